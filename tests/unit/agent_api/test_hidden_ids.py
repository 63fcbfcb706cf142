"""No answer names what a reader may not see now: past pages, `replaced_by`, skill groups, `removed`."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

import pytest
from django.test import Client

from registry.access import agent_keys
from registry.matching.skill_groups import set_group
from registry.models import Capability
from registry.publishing import publication
from tests.factories import OLGA, bearer, publish, unlisted

pytestmark = pytest.mark.django_db
LIST = "capability_registry_list"


@pytest.fixture(autouse=True)
def public(settings: Any) -> None:
    settings.AGENT_API_PUBLIC_READ = True


def _hide(capability_id: str, how: str) -> None:
    if how == "retired":
        publication.retire(capability_id=capability_id, by=OLGA)
    else:
        publication.set_visibility(capability_id=capability_id, visibility="unlisted", by=OLGA)


def _self_made_cursor(revision: int) -> str:
    """In the form that unsigned cursors had: a revision, the last id, the fingerprint of the filters."""
    mark = hashlib.sha256(b'["","",null,false]').hexdigest()[:8]
    raw = json.dumps([revision, "", mark], separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _ask(api: Any, door: str, key: dict[str, str], **query: Any) -> Any:
    """The list's document, or the refusal's, by HTTP or as a tool of MCP."""
    if door == "http":
        return api.get(LIST, query, headers=key).json()
    params = {"name": LIST, "arguments": query}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    answer = Client().post("/mcp", body, content_type="application/json", headers=key)
    return json.loads(answer.json()["result"]["content"][0]["text"])


def _ids(document: Any) -> list[str]:
    return [entry["capability_id"] for entry in document["capabilities"]]


# Pages of the past


@pytest.mark.parametrize("how", ["unlisted", "retired"])
@pytest.mark.parametrize("door", ["http", "mcp"])
@pytest.mark.parametrize("reader", ["nobody", "key"])
def test_a_self_made_cursor_opens_no_past(api: Any, door: str, how: str, reader: str) -> None:
    publish("alpha")
    publish("secret", description="Everything about the takeover.")
    _hide("secret", how)
    key = bearer() if reader == "key" else {}
    for revision in (2, 3):
        refused = _ask(api, door, key, cursor=_self_made_cursor(revision))
        assert refused["error"]["code"] == "INVALID_REQUEST", refused
        assert "first page" in refused["error"]["message"]
        assert "secret" not in str(refused)


@pytest.mark.parametrize("how", ["unlisted", "retired"])
@pytest.mark.parametrize("door", ["http", "mcp"])
def test_a_good_cursor_tells_nothing_that_was_hidden_since(api: Any, door: str, how: str) -> None:
    for name in ("alpha", "beta", "secret", "zeta"):
        publish(name)
    first = _ask(api, door, {}, limit=1)
    _hide("secret", how)
    publish("beta", body="Two.", name="Changed")
    for key in ({}, bearer()):
        second = _ask(api, door, key, limit=1, cursor=first["next_cursor"])
        third = _ask(api, door, key, limit=1, cursor=second["next_cursor"])
        assert (_ids(second), _ids(third), third["next_cursor"]) == (["beta"], ["zeta"], None)
        # The revision that the first page began with, all the same.
        assert (second["registry_revision"], second["capabilities"][0]["name"]) == (4, "Beta")


def test_a_page_of_the_past_tells_no_key_what_has_left_its_groups(api: Any) -> None:
    for name in ("alpha", "beta", "gamma"):
        publish(name, skill_groups=["a"])
    key = bearer(groups=["a"])
    first = _ask(api, "http", key, limit=1)
    publish("beta", skill_groups=["b"])
    assert _ids(_ask(api, "http", key, cursor=first["next_cursor"], limit=1)) == ["gamma"]


def test_what_redeems_a_code_sees_it_in_the_past_too(api: Any) -> None:
    publish("alpha")
    publish("beta")
    key = bearer()
    first = _ask(api, "http", key, limit=1)
    code = Capability.objects.get(capability_id="beta").install_code
    _hide("beta", "unlisted")
    assert _ids(_ask(api, "http", key, limit=1, cursor=first["next_cursor"])) == []
    api.ok(api.post("capability_install", {"code": code}, headers=key), "installed")
    assert _ids(_ask(api, "http", key, limit=1, cursor=first["next_cursor"])) == ["beta"]


# What replaces it


def _replaced_by(api: Any, key: dict[str, str], capability_id: str) -> list[Any]:
    """`replaced_by` in the list over HTTP and MCP, in loads, pins and reloads."""
    asked = {"capability_id": capability_id}
    (listed,) = [one for one in _ask(api, "http", key)["capabilities"] if one["capability_id"] == capability_id]
    (by_mcp,) = [one for one in _ask(api, "mcp", key)["capabilities"] if one["capability_id"] == capability_id]
    loads = [
        api.get("capability_skill_load", asked, headers=key),
        api.get("capability_skill_load", asked | {"revision": 1}, headers=key),
        api.post("capability_skill_load", asked, headers=key),
        api.post("capability_skill_reload", asked, headers=key),
    ]
    return [listed["replaced_by"], by_mcp["replaced_by"], *(load.json()["replaced_by"] for load in loads)]


def _prompts(api: Any, key: dict[str, str], capability_id: str) -> str:
    rendered = api.post("prompt_render", {"capability_ids": [capability_id]}, headers=key).json()["prompt"]
    params = {"name": capability_id}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": params})
    got = Client().post("/mcp", body, content_type="application/json", headers=key).json()
    return str(rendered) + str(got["result"])


def test_a_replacement_is_told_to_those_who_see_it(api: Any) -> None:
    publish("old_pay", skill_groups=["pay"])
    publish("new_pay", skill_groups=["pay", "staff"])
    publication.deprecate(capability_id="old_pay", replaced_by="new_pay", by=OLGA)
    wide, narrow = bearer(), bearer(groups=["pay"])
    for key in ({}, wide, narrow):
        assert set(_replaced_by(api, key, "old_pay")) == {"new_pay"}
        assert "new_pay" in _prompts(api, key, "old_pay")

    code = Capability.objects.get(capability_id="new_pay").install_code
    _hide("new_pay", "unlisted")
    for key in ({}, wide, narrow, bearer(read_only_tools=True), bearer(preview=True)):
        assert set(_replaced_by(api, key, "old_pay")) == {None}
        assert "new_pay" not in _prompts(api, key, "old_pay")

    api.ok(api.post("capability_install", {"code": code}, headers=wide), "installed")
    assert set(_replaced_by(api, wide, "old_pay")) == {"new_pay"}


def test_a_replacement_in_another_group_is_not_told(api: Any) -> None:
    publish("old_pay", skill_groups=["health"])
    publish("new_pay", skill_groups=["staff"])
    publication.deprecate(capability_id="old_pay", replaced_by="new_pay", by=OLGA)
    assert set(_replaced_by(api, bearer(groups=["health"]), "old_pay")) == {None}
    assert set(_replaced_by(api, bearer(groups=["health", "staff"]), "old_pay")) == {"new_pay"}


def test_a_page_of_the_past_names_no_replacement_that_was_hidden_since(api: Any) -> None:
    for name in ("alpha", "new_pay", "old_pay"):
        publish(name)
    publication.deprecate(capability_id="old_pay", replaced_by="new_pay", by=OLGA)
    cursor = _ask(api, "http", {}, limit=1)["next_cursor"]
    _hide("new_pay", "unlisted")
    (entry,) = _ask(api, "http", {}, limit=1, cursor=cursor)["capabilities"]
    assert (entry["capability_id"], entry["status"], entry["replaced_by"]) == ("old_pay", "deprecated", None)


def test_other_doors_name_no_hidden_replacement(api: Any) -> None:
    publish("old_pay")
    publish("new_pay")
    publication.deprecate(capability_id="old_pay", replaced_by="new_pay", by=OLGA)
    _hide("new_pay", "unlisted")
    client = Client()
    for path in (
        "/.well-known/agent-skills/index.json",
        "/.well-known/agent-skills/old-pay/1/SKILL.md",
        "/clawhub/api/v1/skills",
        "/clawhub/api/v1/skills/old-pay",
        "/clawhub/api/v1/skills/old-pay/versions",
        "/clawhub/api/v1/skills/old-pay/moderation",
        "/clawhub/api/v1/search?q=pay",
        "/api/search?q=pay",
        "/api/v1/capability_search?q=pay",
    ):
        answer = client.get(path)
        assert answer.status_code in (200, 404), path
        assert b"new_pay" not in answer.content, path
        assert b"new-pay" not in answer.content, path


# Groups


def test_a_match_names_no_group_whose_members_are_all_hidden(api: Any) -> None:
    publish("meals", skill_groups=["health"], intent_triggers=["log my lunch"])
    code = unlisted("payroll", skill_groups=["hr_secret"])
    publish("bonus", skill_groups=["board"])
    _hide("bonus", "unlisted")
    set_group(group_id="hr_secret", description="Payroll and raises.", examples=["payroll"], by=OLGA)
    set_group(group_id="board", description="The board.", examples=["board bonus"], by=OLGA)
    set_group(group_id="health", description="Health.", examples=["what did I eat"], by=OLGA)
    set_group(group_id="travel", description="Travel.", examples=["book a flight"], by=OLGA)
    guest = bearer()

    def groups(message: str, key: dict[str, str]) -> list[str]:
        answer = api.ok(api.post("capability_match", {"message": message}, headers=key), "match")
        return list(answer["skill_groups"])

    for key in ({}, guest, bearer(groups=["hr_secret", "board"])):
        assert groups("payroll", key) == []
        assert groups("board bonus", key) == []
    assert groups("what did I eat", {}) == ["health"]
    # A group without members hides nothing.
    assert groups("book a flight", {}) == ["travel"]
    api.ok(api.post("capability_install", {"code": code}, headers=guest), "installed")
    assert groups("payroll", guest) == ["hr_secret"]


# What a client that keeps a copy is told to forget


def _removed(api: Any, key: dict[str, str], since: int) -> list[str]:
    return list(_ask(api, "http", key, updated_since_revision=since)["removed"])


def test_what_a_reader_had_is_to_be_forgotten(api: Any) -> None:
    early = bearer()
    publish("secret")
    publish("old")
    _hide("secret", "unlisted")
    _hide("old", "retired")
    assert _removed(api, early, 2) == ["old", "secret"] == _removed(api, {}, 2)
    assert _removed(api, early, 3) == ["old"]


def test_a_later_key_is_not_told_of_what_was_hidden_before_it(api: Any) -> None:
    publish("secret")
    publish("old")
    _hide("secret", "unlisted")
    _hide("old", "retired")
    late = bearer()
    for since in range(5):
        assert "secret" not in str(_ask(api, "http", late, updated_since_revision=since))
        assert "secret" not in str(_ask(api, "mcp", late, updated_since_revision=since))
    # A client that got this key in place of another one still has to forget what was retired.
    assert _removed(api, late, 2) == ["old"]
    # The key has seen what is hidden after its creation.
    publish("other")
    _hide("other", "unlisted")
    assert _removed(api, late, 5) == ["other"]


def test_a_later_key_of_a_group_is_not_told_of_what_left_it_before(api: Any) -> None:
    publish("alpha", skill_groups=["a"])
    early = bearer(groups=["a"])
    publish("alpha", skill_groups=["b"])
    assert _removed(api, early, 1) == ["alpha"]
    assert _removed(api, bearer(groups=["a"]), 1) == []


def test_a_key_that_is_given_other_groups_is_told_as_a_new_one(api: Any) -> None:
    publish("alpha", skill_groups=["a"])
    publish("beta", skill_groups=["b"])
    row, key = agent_keys.create_key(name="moving", groups=["b"], by=OLGA)
    publish("alpha", skill_groups=["c"])
    agent_keys.update_key(
        name="moving", scopes=row.scopes, groups=["a"], read_only_tools=False, preview=False, expires_at=None, by=OLGA,
        team="", capability_ids=None,
    )  # fmt: skip
    assert _removed(api, {"Authorization": f"Bearer {key}"}, 2) == []


def test_what_was_listed_only_while_retired_is_never_told(api: Any) -> None:
    publish("alpha")
    publication.set_visibility(capability_id="alpha", visibility="unlisted", by=OLGA)
    key = bearer()
    publication.retire(capability_id="alpha", by=OLGA)
    publication.set_visibility(capability_id="alpha", visibility="listed", by=OLGA)
    assert _removed(api, key, 2) == [] == _removed(api, key, 3)
