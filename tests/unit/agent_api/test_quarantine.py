"""What is quarantined is given out by no door, warm or cold, and only those who could see it learn why."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from features.sharing import install_codes, share_links
from registry.catalog import drafts
from registry.common.actors import Actor
from registry.publishing import publication
from registry.publishing.quarantine import quarantine
from registry.snapshot import STORE
from tests.factories import OLGA, bearer, bundle, publish, unlisted

pytestmark = pytest.mark.django_db
LOAD, LIST = "capability_skill_load", "capability_registry_list"
REFUSAL = (423, "CAPABILITY_QUARANTINED")


@pytest.fixture(autouse=True)
def public(settings: Any) -> None:
    settings.AGENT_API_PUBLIC_READ = True


def _held_back(capability_id: str = "alpha") -> None:
    quarantine(capability_id=capability_id, by=OLGA)


def _give_back() -> None:
    publication.restore(capability_id="alpha", by=Actor("command_line", "root"), note="It is harmless")


def test_a_load_of_any_kind_is_refused_pins_included(api: Any) -> None:
    first = publish(body="One.")
    publish(body="Two.")
    publish("beta")
    for query in ({}, {"revision": 1}, {"digest": first.digest}):
        api.ok(api.get(LOAD, {"capability_id": "alpha", **query}), "skill_load")
    etag = api.get(LOAD, {"capability_id": "alpha"}).headers["ETag"]
    _held_back()
    for query in ({}, {"revision": 1}, {"digest": first.digest}, {"revision": 99}):
        values = {"capability_id": "alpha", **query}
        error = api.error(api.get(LOAD, values), *REFUSAL)
        assert (error["capability_id"], "stop using it" in error["message"]) == ("alpha", True)
        api.error(api.post(LOAD, values), *REFUSAL)
    api.error(api.get(LOAD, {"capability_id": "alpha"}, headers={"If-None-Match": etag}), *REFUSAL)
    api.error(api.post("capability_skill_reload", {"capability_id": "alpha"}), *REFUSAL)
    api.error(api.get("capability_file_load", {"capability_id": "alpha", "path": "references/x.md"}), *REFUSAL)
    api.error(api.post("prompt_render", {"capability_ids": ["beta", "alpha"]}), *REFUSAL)
    feedback = {"capability_id": "alpha", "outcome": "used"}
    api.error(api.post("capability_feedback", feedback, headers=bearer("feedback")), *REFUSAL)
    _give_back()
    assert api.ok(api.get(LOAD, {"capability_id": "alpha", "revision": 1}), "skill_load")["revision"] == 1


def test_it_is_neither_listed_nor_matched_nor_found(api: Any) -> None:
    publish()
    publish("beta")
    since = api.ok(api.get(LIST), "registry_list")["registry_revision"]
    message = {"message": "alpha please"}
    assert api.ok(api.post("capability_match", message), "match")["needed"] == ["alpha"]
    _held_back()
    listed = api.ok(api.get(LIST, {"updated_since_revision": since}), "registry_list")
    assert (listed["capabilities"], listed["removed"]) == ([], ["alpha"])
    assert "alpha" not in [row["capability_id"] for row in api.ok(api.get(LIST), "registry_list")["capabilities"]]
    answer = api.ok(api.post("capability_match", message), "match")
    assert "alpha" not in [*answer["needed"], *(row["capability_id"] for row in answer["matches"])]
    found = api.ok(api.get("capability_search", {"q": "alpha"}), "search")["results"]
    assert "alpha" not in [row["capability_id"] for row in found]
    error = api.error(api.get(LOAD, {"capability_id": "alphas"}), 404, "CAPABILITY_NOT_FOUND")
    assert error["available_capabilities"] == ["beta"]
    _give_back()
    listed = api.ok(api.get(LIST, {"updated_since_revision": since}), "registry_list")
    assert ([row["capability_id"] for row in listed["capabilities"]], listed["removed"]) == (["alpha"], [])


def test_those_who_could_not_see_it_learn_nothing(api: Any) -> None:
    code = unlisted("secret")
    publish("grouped", skill_groups=["health"])
    reader, limited = bearer("read", name="reader"), bearer("read", name="limited", groups=["money"])
    install_codes.redeem_code(code=code, by=Actor("agent_key", "reader"))
    _held_back("secret")
    _held_back("grouped")
    api.error(api.get(LOAD, {"capability_id": "secret"}), 404, "CAPABILITY_NOT_FOUND")
    api.error(api.get(LOAD, {"capability_id": "secret"}, headers=reader), *REFUSAL)
    api.error(api.get(LOAD, {"capability_id": "grouped"}, headers=limited), 404, "CAPABILITY_NOT_FOUND")
    api.error(api.get(LOAD, {"capability_id": "grouped"}, headers=reader), *REFUSAL)


def test_a_key_that_previews_drafts_does_not_get_its_draft(api: Any) -> None:
    publish()
    key = bearer("read", preview=True)
    drafts.save_draft(capability_id="alpha", files=bundle(body="A draft."), based_on=None, by=OLGA)
    assert api.ok(api.get(LOAD, {"capability_id": "alpha"}, headers=key), "skill_load")["status"] == "draft"
    _held_back()
    api.error(api.get(LOAD, {"capability_id": "alpha"}, headers=key), *REFUSAL)
    assert api.ok(api.get(LIST, headers=key), "registry_list")["capabilities"] == []


def _doors() -> list[str]:
    base = share_links.create_link(name="partner", by=OLGA)[1].removeprefix("http://127.0.0.1:8000")
    paths = ["/.well-known/agent-skills/alpha/1/SKILL.md", "/.well-known/agent-skills/alpha/1/alpha.zip"]
    paths += ["/clawhub/api/v1/skills/alpha", "/clawhub/api/v1/download?slug=alpha&version=1.0.1"]
    return [*paths, *(f"{base}{path}" for path in paths)]


def _rpc(path: str, method: str, **params: Any) -> Any:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return Client().post(path, json.dumps(body), content_type="application/json").json()


def test_no_other_door_gives_it_out(api: Any) -> None:
    publish()
    paths = _doors()
    shared = paths[-1].partition("/clawhub")[0]
    assert [Client().get(path).status_code for path in paths] == [200] * len(paths)
    _held_back()
    for path in paths:
        answer = Client().get(path)
        assert (answer.status_code, "quarantined" in answer.content.decode()) == (423, True), path
    for index in ("/.well-known/agent-skills/index.json", f"{shared}/.well-known/agent-skills/index.json"):
        assert Client().get(index).json()["skills"] == []
    for mcp in ("/mcp", f"{shared}/mcp"):
        error = _rpc(mcp, "resources/read", uri="skill://alpha/SKILL.md")["error"]
        assert (error["code"], error["data"]["code"]) == (-32602, "CAPABILITY_QUARANTINED")
        error = _rpc(mcp, "prompts/get", name="alpha")["error"]
        assert error["data"]["code"] == "CAPABILITY_QUARANTINED"
        called = _rpc(mcp, "tools/call", name="capability_skill_load", arguments={"capability_id": "alpha"})["result"]
        assert called["isError"] is True
        assert "CAPABILITY_QUARANTINED" in json.dumps(called)
        assert _rpc(mcp, "resources/list")["result"]["resources"] == []


def test_a_snapshot_that_moves_on_keeps_it_held_back(api: Any) -> None:
    publish()
    _held_back()
    publish("beta")
    STORE.refresh()
    api.error(api.get(LOAD, {"capability_id": "alpha"}), *REFUSAL)
    publication.retire(capability_id="alpha", by=OLGA)
    api.error(api.get(LOAD, {"capability_id": "alpha"}), 404, "CAPABILITY_NOT_FOUND")
