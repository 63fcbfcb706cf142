"""The operator API for drafts: read, save with optimistic locking, publish what was looked at."""

from __future__ import annotations

from typing import Any

import pytest

from registry.catalog.drafts import discard_draft, get_draft, save_draft
from registry.models import Draft, Revision
from registry.publishing import publication
from registry.publishing.scan_results import get_files_digest
from tests.factories import OLGA, agent_key, bundle, publish, tool

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def key() -> dict[str, str]:
    """A key that may publish."""
    return {"Authorization": f"Bearer {agent_key('publish', name='pipeline')}"}


def _save(api: Any, key: dict[str, str], based_on: Any = None, **changes: Any) -> Any:
    body = {"capability_id": "alpha", "files": bundle(**changes), "based_on": based_on}
    return api.post("operator/draft_save", body, headers=key)


def _publish(api: Any, key: dict[str, str], draft_version: Any, **more: Any) -> Any:
    body = {"capability_id": "alpha", "draft_version": draft_version, **more}
    return api.post("operator/draft_publish", body, headers=key)


def test_save_read_and_publish(api: Any, key: dict[str, str]) -> None:
    assert api.ok(_save(api, key), "draft_saved") == {"draft_version": 1, "findings": []}
    document = api.ok(api.get("operator/draft_get", {"capability_id": "alpha"}, headers=key), "draft")
    digest = get_files_digest(bundle())
    texts = {"files": bundle(), "findings": [], "files_digest": digest}
    assert document == {**texts, "draft_version": 1, "is_draft": True, "revision": None}
    assert get_draft("alpha").saved_by == "agent_key:pipeline"
    (row,) = api.ok(_publish(api, key, 1, note="At last"), "bundle_results")["results"]
    assert (row["path"], row["status"], row["revision"]) == ("alpha", "published", 1)
    assert Revision.objects.get().note == "At last"
    document = api.ok(api.get("operator/draft_get", {"capability_id": "alpha"}, headers=key), "draft")
    assert document == {**texts, "draft_version": None, "is_draft": False, "revision": 1}


def test_an_editor_begins_with_the_published_texts(api: Any, key: dict[str, str]) -> None:
    """Supporting files too: a save takes away what it does not name."""
    files = bundle() | {"references/a.md": "Text.\n"}
    publication.publish(files=files, by=OLGA)
    read = api.ok(api.get("operator/draft_get", {"capability_id": "alpha"}, headers=key), "draft")
    assert (read["files"], read["is_draft"]) == (files, False)
    body = {"capability_id": "alpha", "files": read["files"] | {"skill.md": bundle(body="Two.")["skill.md"]}}
    saved = api.ok(
        api.post("operator/draft_save", body | {"based_on": read["draft_version"]}, headers=key), "draft_saved"
    )
    (row,) = api.ok(_publish(api, key, saved["draft_version"]), "bundle_results")["results"]
    assert (row["status"], row["revision"]) == ("published", 2)
    again = api.ok(api.get("operator/draft_get", {"capability_id": "alpha"}, headers=key), "draft")
    assert (again["files"], again["revision"]) == (body["files"], 2)


def test_what_has_neither_a_draft_nor_a_revision_has_nothing_to_edit(api: Any, key: dict[str, str]) -> None:
    save_draft(capability_id="alpha", files=bundle(), based_on=None, by=OLGA)
    discard_draft(capability_id="alpha", by=OLGA)
    response = api.get("operator/draft_get", {"capability_id": "alpha"}, headers=key)
    api.error(response, 404, "DRAFT_NOT_FOUND")


def test_findings_come_with_a_save_and_a_read(api: Any, key: dict[str, str]) -> None:
    saved = api.ok(_save(api, key, description=None), "draft_saved")
    read = api.ok(api.get("operator/draft_get", {"capability_id": "alpha"}, headers=key), "draft")
    assert [finding["code"] for finding in saved["findings"]] == ["FIELD_MISSING"]
    assert read["findings"] == saved["findings"]
    (row,) = api.ok(_publish(api, key, 1), "bundle_results")["results"]
    assert (row["status"], row["revision"]) == ("refused", None)
    assert get_draft("alpha").version == 1


@pytest.mark.parametrize("based_on", [None, 1, 3])
def test_a_stale_save_is_a_409_with_both_texts(api: Any, key: dict[str, str], based_on: int | None) -> None:
    _save(api, key)
    _save(api, key, 1, body="Theirs.")
    error = api.error(_save(api, key, based_on, body="Yours."), 409, "DRAFT_CONFLICT")
    assert set(error) == {"code", "message", "yours", "theirs", "draft_version"}
    assert (error["yours"], error["theirs"]) == (bundle(body="Yours."), bundle(body="Theirs."))
    assert error["draft_version"] == 2
    api.ok(_save(api, key, 2, body="Merged."), "draft_saved")


def test_a_stale_save_where_no_draft_is(api: Any, key: dict[str, str]) -> None:
    error = api.error(_save(api, key, 1), 409, "DRAFT_CONFLICT")
    assert (error["theirs"], error["draft_version"]) == ({}, None)


def test_publishing_a_draft_that_moved_on_is_a_409(api: Any, key: dict[str, str]) -> None:
    _save(api, key)
    _save(api, key, 1, body="Newer.")
    error = api.error(_publish(api, key, 1), 409, "DRAFT_CONFLICT")
    assert (error["theirs"], error["draft_version"]) == (bundle(body="Newer."), 2)
    assert not Revision.objects.exists()


def test_publishing_a_draft_that_loosens(api: Any, key: dict[str, str]) -> None:
    publish(tools=[tool("alpha_entry")])
    _save(api, key, tools=[tool("alpha_entry", "write")])
    assert _publish(api, key, 1).json()["results"][0]["status"] == "refused"
    assert _publish(api, key, 1, acknowledge=["POLICY_LOOSENED"]).json()["results"][0]["status"] == "published"


@pytest.mark.parametrize(
    "change",
    [
        {"capability_id": None},
        {"capability_id": "Alpha!"},
        {"capability_id": "x" * 65},
        {"files": None},
        {"files": []},
        {"files": {"skill.md": 7}},
        {"files": {"notes.txt": "x"}},
        {"files": {"skill.md": "x" * (2**20 + 1)}},
        {"based_on": 0},
        {"based_on": "one"},
        {"based_on": -1},
        {"based_on": True},
        {"based_on": 1.5},
        {"based_on": []},
    ],
    ids=lambda change: str(change)[:60],
)
def test_an_odd_save_is_refused(api: Any, key: dict[str, str], change: dict[str, Any]) -> None:
    body = {"capability_id": "alpha", "files": bundle(), "based_on": None} | change
    api.error(api.post("operator/draft_save", body, headers=key), 400, "INVALID_REQUEST")
    assert not Draft.objects.exists()


@pytest.mark.parametrize("name", ["capability_id", "files", "based_on"])
def test_a_save_needs_all_three(api: Any, key: dict[str, str], name: str) -> None:
    body = {"capability_id": "alpha", "files": bundle(), "based_on": None}
    del body[name]
    api.error(api.post("operator/draft_save", body, headers=key), 400, "INVALID_REQUEST")


@pytest.mark.parametrize("draft_version", [None, 0, "x", True, 1.5, []])
def test_an_odd_version_is_refused(api: Any, key: dict[str, str], draft_version: Any) -> None:
    _save(api, key)
    api.error(_publish(api, key, draft_version), 400, "INVALID_REQUEST")


def test_what_is_not_there_is_told(api: Any, key: dict[str, str]) -> None:
    api.error(_publish(api, key, 1), 404, "CAPABILITY_NOT_FOUND")
    response = api.get("operator/draft_get", {"capability_id": "alpha"}, headers=key)
    api.error(response, 404, "CAPABILITY_NOT_FOUND")
    publish()
    api.error(_publish(api, key, 1), 404, "DRAFT_NOT_FOUND")
    api.error(api.get("operator/draft_get", headers=key), 400, "INVALID_REQUEST")


def test_nul_and_carriage_returns_in_a_draft(api: Any, key: dict[str, str]) -> None:
    body = {"capability_id": "alpha", "files": {"skill.md": "\ufeffa\r\nb\0c\rd"}, "based_on": None}
    api.ok(api.post("operator/draft_save", body, headers=key), "draft_saved")
    assert get_draft("alpha").files == {"skill.md": "a\nb\ufffdc\rd"}


def test_an_unknown_id_is_answered_with_those_that_there_are(api: Any, key: dict[str, str]) -> None:
    publish("alpha")
    save_draft(capability_id="beta", files=bundle("beta"), based_on=None, by=OLGA)
    response = api.get("operator/draft_get", {"capability_id": "betta"}, headers=key)
    error = api.error(response, 404, "CAPABILITY_NOT_FOUND")
    assert error["available_capabilities"] == ["beta", "alpha"]
    error = api.error(_publish(api, key, 1, capability_id="betta"), 404, "CAPABILITY_NOT_FOUND")
    assert error["available_total"] == 2
