"""Keys that see less (skill groups, no write tools) or more (drafts): the same at every door."""

from __future__ import annotations

from typing import Any

import pytest

from capability_kit.bundles.digest import digest_of_load
from capability_rules.errors import InvalidRequest
from registry.access import agent_keys
from registry.catalog import drafts
from registry.models import AgentKey, Capability, LoadCount, Revision
from registry.publishing import publication
from registry.snapshot import STORE
from registry.snapshot.visibility import without_write_tools
from registry.usage.usage_counters import flush
from tests.factories import OLGA, bearer, bundle, publish, tampering, tool, unlisted
from tests.shapes import assert_shape

pytestmark = pytest.mark.django_db
TOOLS = [tool("alpha_list"), tool("alpha_create", "write")]


def _list(api: Any, key: dict[str, str], **query: Any) -> Any:
    return api.ok(api.get("capability_registry_list", query, headers=key), "registry_list")


def _ids(api: Any, key: dict[str, str], **query: Any) -> list[str]:
    return [entry["capability_id"] for entry in _list(api, key, **query)["capabilities"]]


def _load(api: Any, key: dict[str, str], capability_id: str = "alpha", **pin: Any) -> Any:
    return api.get("capability_skill_load", {"capability_id": capability_id} | pin, headers=key)


def _names(document: Any) -> list[str]:
    return [each["name"] for each in document["tools"]]


def test_a_key_of_some_groups_knows_nothing_else(api: Any) -> None:
    publish("alpha", skill_groups=["a", "c"])
    publish("beta", skill_groups=["b"])
    publish("gamma")
    key, wide = bearer(groups=["a", "x"]), bearer()
    assert (_ids(api, key), _ids(api, wide)) == (["alpha"], ["alpha", "beta", "gamma"])
    assert _ids(api, key, group="b") == []
    assert _load(api, key).status_code == 200
    error = api.error(_load(api, key, "beta"), 404, "CAPABILITY_NOT_FOUND")
    assert (error["available_capabilities"], error["available_total"]) == (["alpha"], 1)
    body = {"capability_id": "beta", "outcome": "used"}
    api.error(api.post("capability_feedback", body, headers=bearer("feedback", groups=["a"])), 404,
              "CAPABILITY_NOT_FOUND")  # fmt: skip


def test_what_leaves_its_groups_is_to_be_forgotten_and_nothing_else(api: Any) -> None:
    publish("alpha", skill_groups=["a"])
    publish("beta", skill_groups=["b"])
    key = bearer(groups=["a"])
    publish("alpha", skill_groups=["b"])
    publication.retire(capability_id="beta", by=OLGA)
    document = _list(api, key, updated_since_revision=2)
    assert (document["capabilities"], document["removed"]) == ([], ["alpha"])


def test_a_code_opens_nothing_outside_of_its_groups(api: Any) -> None:
    code = unlisted("alpha", skill_groups=["a"])
    outside, inside = bearer(groups=["b"]), bearer(groups=["a"])
    response = api.post("capability_install", {"code": code}, headers=outside)
    api.error(response, 404, "INSTALL_CODE_NOT_FOUND")
    assert _ids(api, inside) == []
    api.ok(api.post("capability_install", {"code": code}, headers=inside), "installed")
    assert (_ids(api, inside), _ids(api, outside)) == (["alpha"], [])


def test_write_tools_are_withheld_and_named(api: Any) -> None:
    publish(tools=TOOLS)
    publish("beta", [tool("beta_list")])
    key, wide = bearer(read_only_tools=True), bearer()
    document, whole = _load(api, key).json(), _load(api, wide).json()
    assert_shape(document, "skill_load")
    assert (_names(document), document["withheld_tools"]) == (["alpha_list"], ["alpha_create"])
    assert (_names(whole), "withheld_tools" in whole) == (["alpha_list", "alpha_create"], False)
    assert {name: document[name] for name in whole if name not in ("tools", "digest")} == {
        name: whole[name] for name in whole if name not in ("tools", "digest")
    }
    # A client verifies what it received, and the list says the same of it.
    assert document["digest"] == digest_of_load(document) != whole["digest"]
    assert [entry["digest"] for entry in _list(api, key)["capabilities"]] == [
        document["digest"],
        _load(api, wide, "beta").json()["digest"],
    ]
    assert "withheld_tools" not in _load(api, key, "beta").json()


def test_a_release_without_write_tools_is_pinned_by_its_own_digest(api: Any) -> None:
    publish(tools=TOOLS)
    key = bearer(read_only_tools=True)
    first = _load(api, key).json()
    publish(tools=TOOLS, body="Two.")
    pinned = _load(api, key, digest=first["digest"]).json()
    assert (pinned["revision"], pinned["digest"], _names(pinned)) == (1, first["digest"], ["alpha_list"])
    assert _load(api, key, revision=1).json()["withheld_tools"] == ["alpha_create"]
    whole = Revision.objects.get(number=1).digest
    api.error(_load(api, key, digest=whole), 404, "REVISION_NOT_FOUND")
    publish(tools=TOOLS[:1], body="Three.")
    assert _load(api, key, revision=1).json()["withheld_tools"] == ["alpha_create"]


def test_of_an_old_row_the_digest_is_counted_when_it_is_needed(api: Any) -> None:
    publish(tools=TOOLS)
    with tampering():
        Revision.objects.update(read_only_digest="")
    STORE.forget()
    without_write_tools.cache_clear()
    key = bearer(read_only_tools=True)
    assert _list(api, key)["capabilities"][0]["digest"] == digest_of_load(_load(api, key).json())


def test_a_preview_key_sees_drafts_as_if_they_were_published(api: Any) -> None:
    publish()
    publish("beta")
    key, other = bearer(preview=True), bearer()
    before = api.get("capability_registry_list", headers=key)
    drafts.save_draft(capability_id="alpha", files=bundle(body="Draft."), based_on=None, by=OLGA)
    drafts.save_draft(capability_id="new", files=bundle("new"), based_on=None, by=OLGA)
    drafts.save_draft(capability_id="beta", files=bundle("beta", description=None), based_on=None, by=OLGA)
    after = api.get("capability_registry_list", headers=key | {"If-None-Match": before.headers["ETag"]})
    assert after.status_code == 200
    rows = [(each["capability_id"], each["status"]) for each in after.json()["capabilities"]]
    assert rows == [("alpha", "draft"), ("beta", "published"), ("new", "draft")]
    document = _load(api, key).json()
    assert_shape(document, "skill_load")
    assert (document["status"], document["revision"], document["replaced_by"]) == ("draft", 2, None)
    assert "Draft." in document["skill_doc"]
    assert document["digest"] == digest_of_load(document) == after.json()["capabilities"][0]["digest"]
    assert _load(api, key, "new").json()["revision"] == 1
    assert _ids(api, other) == ["alpha", "beta"]
    assert "Draft." not in _load(api, other).json()["skill_doc"]
    api.error(_load(api, other, "new"), 404, "CAPABILITY_NOT_FOUND")
    flush()
    assert list(LoadCount.objects.values_list("capability_id", "revision")) == [("alpha", 1)]


def test_a_preview_follows_the_draft(api: Any) -> None:
    publish()
    key = bearer(preview=True)
    drafts.save_draft(capability_id="alpha", files=bundle(body="One draft."), based_on=None, by=OLGA)
    first = _load(api, key)
    drafts.save_draft(capability_id="alpha", files=bundle(body="Another."), based_on=1, by=OLGA)
    second = _load(api, key | {"If-None-Match": first.headers["ETag"]})
    assert "Another." in second.json()["skill_doc"]
    drafts.discard_draft(capability_id="alpha", by=OLGA)
    assert _load(api, key).json()["status"] == "published"
    drafts.restore_draft(capability_id="alpha", version=2, by=OLGA)
    assert _load(api, key).json()["status"] == "draft"
    publication.publish_draft(capability_id="alpha", by=OLGA)
    document = _load(api, key).json()
    assert (document["status"], document["revision"]) == ("published", 2)
    assert Capability.objects.get().status == "published"


def test_a_preview_key_whose_snapshot_is_older_gets_the_newer_draft_unless_it_pins_the_older(
    api: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = bearer(preview=True)
    drafts.save_draft(capability_id="alpha", files=bundle(body="One draft."), based_on=None, by=OLGA)
    digest = _list(api, key)["capabilities"][0]["digest"]
    held = STORE.snapshot
    drafts.save_draft(capability_id="alpha", files=bundle(body="Another."), based_on=1, by=OLGA)
    monkeypatch.setattr(STORE, "refresh", lambda **_: held)
    api.error(_load(api, key, digest=digest), 503, "REGISTRY_UNAVAILABLE")
    assert "Another." in _load(api, key).json()["skill_doc"]


def test_a_pin_of_a_preview_key_is_of_what_was_published(api: Any) -> None:
    publish()
    key = bearer(preview=True)
    drafts.save_draft(capability_id="alpha", files=bundle(body="Draft."), based_on=None, by=OLGA)
    draft = _load(api, key).json()
    assert _load(api, key, digest=draft["digest"]).json() == draft
    pinned = _load(api, key, revision=1).json()
    assert (pinned["status"], pinned["revision"]) == ("published", 1)
    api.error(_load(api, key, revision=7), 404, "REVISION_NOT_FOUND")
    drafts.save_draft(capability_id="new", files=bundle("new"), based_on=None, by=OLGA)
    api.error(_load(api, key, "new", revision=7), 404, "REVISION_NOT_FOUND")


def test_a_draft_that_no_longer_passes_is_said_to_be_so(api: Any) -> None:
    key = bearer(preview=True)
    drafts.save_draft(capability_id="alpha", files=bundle(tools=[tool("shared_list")]), based_on=None, by=OLGA)
    publish("beta", [tool("shared_list")])
    error = api.error(_load(api, key), 422, "SKILL_MALFORMED")
    assert error["findings"][0]["code"] == "TOOL_NAME_COLLISION"


def test_limits_go_together(api: Any) -> None:
    drafts.save_draft(capability_id="alpha", files=bundle(tools=TOOLS, skill_groups=["a"]), based_on=None, by=OLGA)
    key = bearer(preview=True, read_only_tools=True, groups=["a"])
    document = _load(api, key).json()
    assert (document["status"], document["withheld_tools"]) == ("draft", ["alpha_create"])
    assert document["digest"] == digest_of_load(document) == _list(api, key)["capabilities"][0]["digest"]
    assert _ids(api, bearer(preview=True, groups=["b"])) == []
    publication.set_visibility(capability_id="alpha", visibility="unlisted", by=OLGA)
    publish("beta")
    assert _ids(api, bearer(preview=True)) == ["beta"]


@pytest.mark.parametrize("limits", [{"groups": ["a"]}, {"read_only_tools": True}])
def test_a_limited_key_does_not_publish(api: Any, limits: dict[str, Any]) -> None:
    """The operator API shows and changes the whole registry."""
    publish("alpha", skill_groups=["b"])
    with pytest.raises(InvalidRequest, match="whole registry"):
        agent_keys.create_key(name="both", scopes=["read", "publish"], by=OLGA, **limits)
    row, key = agent_keys.create_key(name="older", scopes=["read"], by=OLGA, **limits)
    more: dict[str, Any] = {"groups": None, "read_only_tools": False, "team": "", "capability_ids": None} | limits
    with pytest.raises(InvalidRequest, match="whole registry"):
        agent_keys.update_key(name="older", scopes=["publish"], preview=False, expires_at=None, by=OLGA, **more)

    # One that was made when this was taken.
    AgentKey.objects.filter(pk=row.pk).update(scopes=["read", "publish"])
    STORE.refresh()
    for path in ("bundle_list", "bundle_export?capability_id=alpha", "draft_get?capability_id=alpha"):
        answer = api.get(f"operator/{path}", headers={"Authorization": f"Bearer {key}"})
        api.error(answer, 403, "FORBIDDEN")


def test_a_key_that_this_process_has_not_heard_of_yet(api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("registry.snapshot.store.RECHECK_SECONDS", 0)
    STORE.refresh()
    STORE.is_watched = True
    assert api.get("capability_registry_list", headers=bearer()).status_code == 200
    assert api.get("capability_registry_list", headers={"Authorization": "Bearer csk_none"}).status_code == 401


def test_a_draft_that_was_never_published_takes_no_feedback(api: Any) -> None:
    drafts.save_draft(capability_id="alpha", files=bundle(), based_on=None, by=OLGA)
    said = {"capability_id": "alpha", "outcome": "used"}
    error = api.error(api.post("capability_feedback", said, headers=bearer(preview=True)), 400, "INVALID_REQUEST")
    assert "is a draft" in error["message"]
