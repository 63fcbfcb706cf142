"""What readers get of sets: nothing that they may not see anyway."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from typing import Any

import pytest

from capability_kit.signatures.dsse import open_envelope, parse_key_list
from features.sets import set_store
from features.sets.plugins import PLUGIN_TYPE
from features.sets.tests.documents import COMMAND, document
from features.sharing import share_links
from registry.publishing import publication, quarantine
from tests.factories import OLGA, bearer, publish, tool, unlisted

pytestmark = pytest.mark.django_db


def _share(**shown: Any) -> str:
    return share_links.create_link(name="partner", by=OLGA, **shown)[1].rpartition("/share/")[2]


def _set(api: Any, headers: dict[str, str] | None = None, set_id: str = "desk") -> Any:
    return api.ok(api.get("set_load", {"set_id": set_id}, headers=headers or {}), "set_loaded")


def test_a_set_is_listed_and_loaded_as_one(api: Any) -> None:
    publish("alpha")
    publish("beta")
    set_store.save_set(document("alpha", "beta"), by=COMMAND)
    (listed,) = api.ok(api.get("set_list"), "set_list")["sets"]
    loaded = _set(api)
    assert loaded["set"] == listed
    assert [(each["capability_id"], each["revision"]) for each in listed["members"]] == [("alpha", 1), ("beta", 1)]
    assert (listed["withheld"], listed["left"]) == (0, [])
    assert [each["form"] for each in loaded["plugins"]] == ["agent-plugin", "claude", "codex", "cursor"]


def test_the_version_rises_with_each_change_of_what_it_gives(api: Any) -> None:
    publish("alpha")
    publish("beta")
    set_store.save_set(document("alpha"), by=COMMAND)
    first = _set(api)["set"]["version"]
    publish("beta", description="Another text of beta.")
    assert _set(api)["set"]["version"] == first
    publish("alpha", description="Another text of alpha.")
    second = _set(api)["set"]["version"]
    set_store.save_set(document("alpha", "beta"), by=COMMAND)
    third = _set(api)["set"]["version"]
    publication.retire(capability_id="beta", by=OLGA)
    fourth = _set(api)["set"]["version"]
    versions = [tuple(map(int, each.split("."))) for each in (first, second, third, fourth)]
    assert versions == sorted(set(versions))


def test_members_leave_by_themselves_are_named_and_come_back(api: Any) -> None:
    for name in ("alpha", "beta", "gamma"):
        publish(name)
    set_store.save_set(document("alpha", "beta", "gamma"), by=COMMAND)
    publication.retire(capability_id="beta", by=OLGA)
    quarantine.quarantine(capability_id="gamma", by=OLGA)
    found = _set(api)["set"]
    assert [each["capability_id"] for each in found["members"]] == ["alpha"]
    assert found["left"] == [
        {"capability_id": "beta", "why": "retired"},
        {"capability_id": "gamma", "why": "quarantined"},
    ]
    publication.restore(capability_id="beta", by=OLGA)
    assert [each["capability_id"] for each in _set(api)["set"]["members"]] == ["alpha", "beta"]


def test_a_pinned_member_stays_and_a_quarantine_takes_it_too(api: Any) -> None:
    publish("alpha")
    set_store.save_set(document(("alpha", 1)), by=COMMAND)
    publish("alpha", description="The second text.")
    (member,) = _set(api)["set"]["members"]
    assert (member["revision"], member["pinned"]) == (1, True)
    load = api.get("capability_skill_load", {"capability_id": "alpha", "revision": 1}).json()
    assert member["digest"] == load["digest"]
    quarantine.quarantine(capability_id="alpha", by=OLGA)
    assert api.get("set_load", {"set_id": "desk"}).status_code == 404


def test_no_reader_gets_what_it_may_not_see(api: Any) -> None:
    """An unlisted member, a key of one group, a key without write tools: counted, never named."""
    publish("alpha", skill_groups=["health"])
    publish("beta", tools=[tool("betaSave", "write", requires_approval=True)])
    unlisted("secret")
    set_store.save_set(document("alpha", "beta", "secret"), by=COMMAND)
    cases = {
        "anybody": ({}, ["alpha", "beta"], 1),
        "group": (bearer("read", groups=["health"]), ["alpha"], 2),
        "reading": (bearer("read", read_only_tools=True), ["alpha"], 2),
    }
    for name, (headers, seen, withheld) in cases.items():
        response = api.get("set_load", {"set_id": "desk"}, headers=headers)
        found = api.ok(response, "set_loaded")["set"]
        assert ([each["capability_id"] for each in found["members"]], found["withheld"]) == (seen, withheld), name
        assert b"secret" not in response.content
    nothing = bearer("read", groups=["nothing"])
    assert api.ok(api.get("set_list", headers=nothing), "set_list")["sets"] == []
    api.error(api.get("set_load", {"set_id": "desk"}, headers=nothing), 404, "NOT_FOUND")


def test_an_unlisted_set_is_read_below_its_link_alone(api: Any) -> None:
    publish("alpha")
    publish("beta")
    set_store.save_set(document("alpha", visibility="unlisted"), by=COMMAND)
    api.error(api.get("set_load", {"set_id": "desk"}), 404, "NOT_FOUND")
    token = _share(set_id="desk")
    market = api.get(f"/share/{token}/.claude-plugin/marketplace.json").json()
    assert [each["name"] for each in market["plugins"]] == ["desk"]
    # The link shows this set in every other form too, and nothing else.
    index = api.get(f"/share/{token}/.well-known/agent-skills/index.json").json()
    assert [each["name"] for each in index["skills"]] == ["alpha"]
    share_links.revoke_link(name="partner", by=OLGA)
    assert api.get(f"/share/{token}/.claude-plugin/marketplace.json").status_code == 404


def test_the_marketplace_names_archives_by_their_digest(api: Any) -> None:
    publish("alpha")
    set_store.save_set(document("alpha"), by=COMMAND)
    token = _share(set_id="desk")
    address = f"/share/{token}/.claude-plugin/marketplace.json"
    response = api.get(address)
    (entry,) = response.json()["plugins"]
    source = entry["source"]
    path = source["url"][source["url"].index("/share/") :]
    archive = api.get(path)
    assert hashlib.sha256(archive.content).hexdigest() == source["sha256"]
    assert api.get(address, headers={"If-None-Match": response["ETag"]}).status_code == 304
    publish("alpha", description="The second text.")
    changed = api.get(address)
    assert changed.json()["plugins"][0]["version"] != entry["version"]
    latest = path.replace(entry["version"], "latest")
    assert b"The second text" in api.get(latest).content
    # What an index of before names is not something else.
    api.error(api.get(path), 404, "NOT_FOUND")


def test_a_plugin_is_signed_by_the_registry(api: Any) -> None:
    publish("alpha")
    set_store.save_set(document("alpha"), by=COMMAND)
    loaded = _set(api)
    trusted = parse_key_list(api.get("/.well-known/capability-studio-keys.json").json())
    for plugin in loaded["plugins"]:
        archive = api.get(plugin["url"][plugin["url"].index("/sets/") :])
        assert len(archive.content) == plugin["size"]
        signed = open_envelope(json.loads(plugin["envelope"]), payload_type=PLUGIN_TYPE, trusted=trusted)
        assert signed["sha256"] == hashlib.sha256(archive.content).hexdigest() == plugin["sha256"]
        assert signed["version"] == loaded["set"]["version"]
        beside = api.get(plugin["url"][plugin["url"].index("/sets/") :].replace(".zip", ".dsse.json"))
        assert beside.json() == json.loads(plugin["envelope"])


def test_no_key_and_no_utterance_is_in_a_plugin(api: Any) -> None:
    publish("alpha", utterances={"positive": ["alpha, only a test says this"]})
    set_store.save_set(document("alpha"), by=COMMAND)
    headers = bearer("read", name="a key of canary")
    secret = headers["Authorization"].removeprefix("Bearer ")
    for plugin in _set(api, headers)["plugins"]:
        archive = api.get(plugin["url"][plugin["url"].index("/sets/") :], headers=headers).content
        with zipfile.ZipFile(io.BytesIO(archive)) as members:
            text = b"".join(members.read(each) for each in members.namelist())
        assert secret.encode() not in text
        assert b"only a test says this" not in text


def test_a_key_that_publishes_writes_sets(api: Any) -> None:
    publish("alpha")
    key = bearer("publish", name="pipeline")
    saved = api.ok(
        api.post("operator/set_save", document("alpha") | {"expected_revision": 0}, headers=key), "set_saved"
    )
    assert saved["revision"] == 1
    assert api.ok(api.get("operator/set_export", {"set_id": "desk"}, headers=key), "set_saved") == saved
    api.error(
        api.post("operator/set_save", document("alpha") | {"expected_revision": 0}, headers=key), 409, "STATUS_CONFLICT"
    )
    api.error(api.post("operator/set_save", document("alpha"), headers=bearer("read")), 403, "FORBIDDEN")
    deleted = api.ok(api.post("operator/set_delete", {"set_id": "desk"}, headers=key), "set_saved")
    assert deleted["deleted"] is True
    api.error(api.get("operator/set_export", {"set_id": "desk"}, headers=key), 404, "NOT_FOUND")
