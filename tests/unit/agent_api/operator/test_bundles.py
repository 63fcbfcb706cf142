"""The operator API for bundles: validate, publish, import, export, roll back and what else changes their life."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest

from capability_rules.validation import bundle_set, in_place
from capability_rules.validation.isolation.pool import ChecksBusy
from registry.catalog.drafts import get_draft, save_draft
from registry.common.errors import DraftNotFound
from registry.models import AuditEvent, Capability, Revision
from registry.publishing import publication
from tests.factories import OLGA, Files, agent_key, bundle, publish, tool, zip_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def key() -> dict[str, str]:
    """A key that may publish."""
    return {"Authorization": f"Bearer {agent_key('publish', name='pipeline')}"}


def _batch(*all_files: Files, **options: Any) -> dict[str, Any]:
    bundles = [{"path": f"path/{number}", "files": files} for number, files in enumerate(all_files)]
    return {"bundles": bundles, **options}


def _results(api: Any, response: Any) -> list[tuple[str, str | None, str, int | None]]:
    document = api.ok(response, "bundle_results")
    return [(row["path"], row["capability_id"], row["status"], row["revision"]) for row in document["results"]]


LOOSER = bundle(tools=[tool("alpha_entry", "write")])


def test_validate(api: Any, key: dict[str, str]) -> None:
    publish("gamma", [tool("shared")])
    body = _batch(bundle(), bundle("beta", [tool("shared")]), {"skill.md": "# x"})
    document = api.ok(api.post("operator/bundle_validate", body, headers=key), "bundle_validate")
    assert [(entry["path"], entry["capability_id"], entry["ok"]) for entry in document["bundles"]] == [
        ("path/0", "alpha", True),
        ("path/1", "beta", False),
        ("path/2", None, False),
    ]
    assert document["bundles"][1]["findings"][0]["code"] == "TOOL_NAME_COLLISION"
    assert document["errors"] == sum(f["severity"] == "error" for e in document["bundles"] for f in e["findings"])
    assert Capability.objects.count() == 1


def test_publish(api: Any, key: dict[str, str]) -> None:
    body = _batch(bundle(), bundle("beta", description=None), bundle("gamma"), note="Nightly")
    assert _results(api, api.post("operator/bundle_publish", body, headers=key)) == [
        ("path/0", "alpha", "published", 1),
        ("path/1", "beta", "refused", None),
        ("path/2", "gamma", "published", 1),
    ]
    assert _results(api, api.post("operator/bundle_publish", _batch(bundle()), headers=key)) == [
        ("path/0", "alpha", "unchanged", 1)
    ]
    revision = Revision.objects.get(capability__capability_id="alpha")
    assert (revision.note, revision.created_by) == ("Nightly", "agent_key:pipeline")
    assert api.get("capability_skill_load", {"capability_id": "gamma"}).status_code == 200


def test_publish_as_a_dry_run(api: Any, key: dict[str, str]) -> None:
    body = _batch(bundle(), bundle("beta", [tool("x")]), bundle("gamma", [tool("x")]), dry_run=True)
    rows = _results(api, api.post("operator/bundle_publish", body, headers=key))
    assert [row[2] for row in rows] == ["would_publish", "would_publish", "refused"]
    assert not Capability.objects.exists()


def test_publish_with_an_acknowledgement(api: Any, key: dict[str, str]) -> None:
    publish(tools=[tool("alpha_entry")])
    document = api.post("operator/bundle_publish", _batch(LOOSER), headers=key).json()
    assert [finding["code"] for finding in document["results"][0]["findings"]] == ["POLICY_LOOSENED"]
    body = _batch(LOOSER, acknowledge=["POLICY_LOOSENED"])
    assert _results(api, api.post("operator/bundle_publish", body, headers=key))[0][2] == "published"


def test_publish_a_zip(api: Any, key: dict[str, str]) -> None:
    data = zip_of({f"a/{name}": text for name, text in bundle().items()} | {"b/skill.md": "# B"})
    response = api.post("operator/bundle_publish", data, content_type="application/zip", headers=key)
    assert [(row[0], row[2]) for row in _results(api, response)] == [
        ("archive.zip/a", "published"),
        ("archive.zip/b", "refused"),
    ]


def test_options_of_a_zip_stand_in_the_query(api: Any, key: dict[str, str]) -> None:
    publish(tools=[tool("alpha_entry")])
    path = "operator/bundle_publish?note=From+a+zip&acknowledge=POLICY_LOOSENED,OTHER&dry_run="
    for dry_run, status in (("true", "would_publish"), ("0", "published")):
        response = api.post(path + dry_run, zip_of(LOOSER), content_type="application/zip", headers=key)
        assert _results(api, response)[0][2] == status
    assert Revision.objects.latest("number").note == "From a zip"
    response = api.post(path + "maybe", zip_of(LOOSER), content_type="application/zip", headers=key)
    api.error(response, 400, "INVALID_REQUEST")


@pytest.mark.parametrize("data", [b"", b"PK", b"not a zip", zip_of({"../skill.md": "x"}), zip_of({"README": "x"})])
@pytest.mark.parametrize("name", ["bundle_validate", "bundle_publish", "bundle_import"])
def test_a_zip_that_breaks_a_rule_is_refused(api: Any, key: dict[str, str], name: str, data: bytes) -> None:
    response = api.post(f"operator/{name}", data, content_type="application/zip", headers=key)
    if data:
        api.error(response, 400, "SOURCE_UNREADABLE")
    else:
        api.error(response, 400, "INVALID_REQUEST")


def test_import(api: Any, key: dict[str, str]) -> None:
    body = _batch(bundle(description=None), {"skill.md": "# x"}, note="From git")
    assert _results(api, api.post("operator/bundle_import", body, headers=key)) == [
        ("path/0", "alpha", "draft", None),
        ("path/1", None, "refused", None),
    ]
    assert get_draft("alpha").saved_by == "agent_key:pipeline"
    assert AuditEvent.objects.latest("id").detail["note"] == "From git"


SKILL = "---\nname: pdf-tools\ndescription: Works with PDF files.\n---\n# PDF\n\nUse it.\n"


def test_import_of_agent_skills(api: Any, key: dict[str, str]) -> None:
    rows = [("path/0", "pdf_tools", "draft", None), ("path/1", None, "refused", None)]
    body = _batch({"SKILL.md": SKILL, "scripts/run.py": "x"}, {"SKILL.md": "# x"})
    assert _results(api, api.post("operator/bundle_import", body, headers=key)) == rows
    data = zip_of({"deep/down/pdf-tools/SKILL.md": SKILL, "deep/down/pdf-tools/logo.png": "x"})
    response = api.post("operator/bundle_import?publish=true", data, content_type="application/zip", headers=key)
    assert _results(api, response) == [("archive.zip", "pdf_tools", "published", 1)]


def test_import_of_one_agent_skill_under_another_id(api: Any, key: dict[str, str]) -> None:
    body = _batch({"SKILL.md": SKILL}, as_id="my_pdf")
    assert _results(api, api.post("operator/bundle_import", body, headers=key)) == [("path/0", "my_pdf", "draft", None)]
    data = zip_of({"x/SKILL.md": SKILL})
    response = api.post(
        "operator/bundle_import?as_id=from_zip", data, content_type="application/zip", headers=key
    )  # fmt: skip
    assert _results(api, response) == [("archive.zip", "from_zip", "draft", None)]
    for wrong in (
        _batch({"SKILL.md": SKILL}, as_id="My PDF"),
        _batch({"SKILL.md": SKILL}, bundle(), as_id="two"),
        _batch(bundle(), as_id="bundle_has_its_own"),
    ):
        api.error(api.post("operator/bundle_import", wrong, headers=key), 400, "INVALID_REQUEST")
    assert set(Capability.objects.values_list("capability_id", flat=True)) == {"my_pdf", "from_zip"}


def test_import_as_a_dry_run(api: Any, key: dict[str, str]) -> None:
    response = api.post("operator/bundle_import", _batch(bundle(), dry_run=True), headers=key)
    assert _results(api, response)[0][2] == "draft"
    with pytest.raises(Exception, match="No capability found"):
        get_draft("alpha")


def test_import_can_publish(api: Any, key: dict[str, str]) -> None:
    publish(tools=[tool("alpha_entry")])
    options = {"publish": True, "acknowledge": ["POLICY_LOOSENED"], "dry_run": True}
    for dry_run, status in ((True, "would_publish"), (False, "published")):
        body = _batch(LOOSER, **options | {"dry_run": dry_run})
        assert _results(api, api.post("operator/bundle_import", body, headers=key))[0][2] == status


def test_rollback(api: Any, key: dict[str, str]) -> None:
    publish()
    publish(body="Two.")
    body = {"capability_id": "alpha", "to": 1, "note": "Two was wrong"}
    assert _results(api, api.post("operator/bundle_rollback", body, headers=key)) == [
        ("alpha", "alpha", "published", 1)
    ]
    event = AuditEvent.objects.latest("id")
    assert (event.actor_kind, event.actor_name, event.detail["note"]) == ("agent_key", "pipeline", "Two was wrong")
    body["to"] = 9
    api.error(api.post("operator/bundle_rollback", body, headers=key), 404, "REVISION_NOT_FOUND")


def test_retirement_names_what_needs_the_capability(api: Any, key: dict[str, str]) -> None:
    publish("beta")
    publish("alpha", dependencies={"skills": ["beta"]})
    body = {"capability_id": "beta", "dry_run": True}
    document = api.ok(api.post("operator/capability_retire", body, headers=key), "capability_status")
    assert document == {"capability_id": "beta", "status": "published", "replaced_by": None, "needed_by": ["alpha"]}
    body = {"capability_id": "beta"}
    document = api.ok(api.post("operator/capability_retire", body, headers=key), "capability_status")
    assert (document["status"], document["needed_by"]) == ("retired", ["alpha"])
    body = {"capability_id": "beta", "dry_run": True}
    api.error(api.post("operator/capability_retire", body, headers=key), 409, "STATUS_CONFLICT")


def test_deprecate_retire_restore(api: Any, key: dict[str, str]) -> None:
    publish()
    publish("beta")
    body = {"capability_id": "alpha", "replaced_by": "beta", "note": "Beta is better"}
    document = api.ok(api.post("operator/capability_deprecate", body, headers=key), "capability_status")
    assert document == {"capability_id": "alpha", "status": "deprecated", "replaced_by": "beta"}
    document = api.ok(
        api.post("operator/capability_retire", {"capability_id": "beta"}, headers=key), "capability_status"
    )
    assert document == {"capability_id": "beta", "status": "retired", "replaced_by": None}
    body = {"capability_id": "beta", "note": "Needed after all"}
    assert _results(api, api.post("operator/capability_restore", body, headers=key)) == [
        ("beta", "beta", "published", 1)
    ]
    api.error(api.post("operator/capability_restore", body, headers=key), 409, "STATUS_CONFLICT")
    for replaced_by in ("alpha", "nobody"):
        body = {"capability_id": "alpha", "replaced_by": replaced_by}
        api.error(api.post("operator/capability_deprecate", body, headers=key), 400, "REPLACEMENT_INVALID")
    document = api.ok(
        api.post("operator/capability_deprecate", {"capability_id": "alpha", "replaced_by": None}, headers=key),
        "capability_status",
    )
    assert document["replaced_by"] is None


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("bundle_rollback", {"to": 1}),
        ("capability_deprecate", {}),
        ("capability_retire", {}),
        ("capability_restore", {}),
    ],
)
def test_an_unknown_id_is_told(api: Any, key: dict[str, str], name: str, more: dict[str, Any]) -> None:
    publish()
    response = api.post(f"operator/{name}", {"capability_id": "alpho", **more}, headers=key)
    error = api.error(response, 404, "CAPABILITY_NOT_FOUND")
    assert error["available_capabilities"] == ["alpha"]
    api.error(api.post(f"operator/{name}", more, headers=key), 400, "INVALID_REQUEST")
    api.error(api.post(f"operator/{name}", [], headers=key), 400, "INVALID_REQUEST")


def test_what_was_never_published_conflicts(api: Any, key: dict[str, str]) -> None:
    save_draft(capability_id="alpha", files=bundle(), based_on=None, by=OLGA)
    for name, more in (("bundle_rollback", {"to": 1}), ("capability_retire", {}), ("capability_restore", {})):
        body = {"capability_id": "alpha", **more}
        api.error(api.post(f"operator/{name}", body, headers=key), 409, "STATUS_CONFLICT")


def test_list(api: Any, key: dict[str, str], django_assert_max_num_queries: Any) -> None:
    publish("beta")
    save_draft(capability_id="alpha", files=bundle(), based_on=None, by=OLGA)
    publish("gamma")
    publication.retire(capability_id="gamma", by=OLGA)
    api.get("operator/bundle_list", headers=key)
    with django_assert_max_num_queries(2):
        document = api.ok(api.get("operator/bundle_list", headers=key), "bundle_list")
    rows = [(row["capability_id"], row["status"], row["revision"]) for row in document["capabilities"]]
    assert rows == [("alpha", "draft", None), ("beta", "published", 1), ("gamma", "retired", 1)]


def test_export(api: Any, key: dict[str, str]) -> None:
    files = bundle(tools=[tool("alpha_list")], emoji="👋")
    publication.publish(files=files, by=OLGA)
    query = {"capability_id": "alpha", "format": "bundle"}
    response = api.get("operator/bundle_export", query, headers=key)
    assert (response.status_code, response.headers["Content-Type"]) == (200, "application/octet-stream")
    assert response.headers["Content-Disposition"] == 'attachment; filename="alpha.zip"'
    content = b"".join(response.streaming_content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        found = {name.removeprefix("alpha/"): archive.read(name).decode() for name in archive.namelist()}
    assert found == files
    assert b"".join(api.get("operator/bundle_export", query, headers=key).streaming_content) == content
    back = api.post("operator/bundle_publish", content, content_type="application/octet-stream", headers=key)
    assert _results(api, back)[0][2] == "unchanged"
    query["format"] = "agent-skill"
    response = api.get("operator/bundle_export", query, headers=key)
    content = b"".join(response.streaming_content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.namelist()[0] == "SKILL.md"
    back = api.post("operator/bundle_import?publish=1", content, content_type="application/zip", headers=key)
    assert _results(api, back)[0][2] == "unchanged"
    query["format"] = "tar"
    api.error(api.get("operator/bundle_export", query, headers=key), 400, "INVALID_REQUEST")
    api.error(api.get("operator/bundle_export", {"capability_id": "x"}, headers=key), 404, "CAPABILITY_NOT_FOUND")


@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        {"bundles": []},
        {"bundles": {}},
        {"bundles": "x"},
        {"bundles": [7]},
        {"bundles": [{}]},
        {"bundles": [{"path": "x"}]},
        {"bundles": [{"files": []}]},
        {"bundles": [{"files": {"skill.md": 7}}]},
        {"bundles": [{"files": {"skill.md": None}}]},
        {"bundles": [{"path": 7, "files": {}}]},
        {"bundles": [{"path": "x" * 501, "files": {}}]},
        {"bundles": [{"path": "a\0", "files": {}}]},
        {"bundles": [{"files": {}}] * 101},
        {"bundles": [{"files": {}}], "note": 7},
        {"bundles": [{"files": {}}], "note": "x" * 2001},
        {"bundles": [{"files": {}}], "dry_run": "yes"},
        {"bundles": [{"files": {}}], "dry_run": 1},
        {"bundles": [{"files": {}}], "acknowledge": "X"},
        {"bundles": [{"files": {}}], "acknowledge": [7]},
        {"bundles": [{"files": {}}], "acknowledge": {}},
        b"",
        b"{",
        b'{"bundles": [{"files": {"skill.md": "\\ud800"}}]}',
    ],
    ids=lambda body: str(body)[:60],
)
@pytest.mark.parametrize("name", ["bundle_validate", "bundle_publish", "bundle_import"])
def test_an_odd_body_is_refused(api: Any, key: dict[str, str], name: str, body: Any) -> None:
    api.error(api.post(f"operator/{name}", body, headers=key), 400, "INVALID_REQUEST")


@pytest.mark.both_databases
def test_hostile_texts_are_findings_never_crashes(api: Any, key: dict[str, str]) -> None:
    texts = ["", "\0", "[" * 1000, "{", "null", "7", '"x"', "\x1b[31m", "\u202e", "---\na: *x\n---\n", "{" * 100_000]
    body = _batch(*[dict.fromkeys(bundle(tools=[tool("x")]), text) for text in texts])
    for name in ("bundle_validate", "bundle_publish", "bundle_import"):
        response = api.post(f"operator/{name}", body, headers=key)
        assert response.status_code == 200
    with pytest.raises((DraftNotFound, Exception)):
        get_draft("alpha")


@pytest.mark.both_databases
def test_files_of_odd_names_are_findings(api: Any, key: dict[str, str]) -> None:
    files = bundle() | {"": "x", "../skill.md": "x", "a\0b": "x", "x" * 5000: "x", "SKILL.md": "x", "\x1b]0;x": "x"}
    response = api.post("operator/bundle_publish", _batch(files), headers=key)
    document = api.ok(response, "bundle_results")
    (row,) = document["results"]
    assert row["status"] == "published"
    assert {finding["code"] for finding in row["findings"]} == {"FILE_UNKNOWN"}


def test_a_body_that_is_too_large_is_refused(api: Any, key: dict[str, str], settings: Any) -> None:
    body = b" " * (settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1)
    api.error(api.post("operator/bundle_publish", body, headers=key), 413, "PAYLOAD_TOO_LARGE")
    data = b" " * (64 * 2**20 + 1)
    response = api.post("operator/bundle_publish", data, content_type="application/zip", headers=key)
    api.error(response, 413, "PAYLOAD_TOO_LARGE")


@pytest.mark.slow
def test_a_bundle_of_two_mebibytes_fits_however_json_escapes_it(api: Any, key: dict[str, str]) -> None:
    files = bundle()
    files["skill.md"] += "\n" * 1_000_000
    response = api.post("operator/bundle_validate", _batch(files), headers=key)
    assert api.ok(response, "bundle_validate")["bundles"][0]["capability_id"] == "alpha"


def test_another_media_type_is_refused(api: Any, key: dict[str, str]) -> None:
    for content_type in ("text/plain", "application/x-tar", "multipart/form-data; boundary=x"):
        response = api.post("operator/bundle_publish", _batch(bundle()), content_type=content_type, headers=key)
        api.error(response, 415, "UNSUPPORTED_MEDIA_TYPE")
    response = api.post("operator/bundle_rollback", zip_of({}), content_type="application/zip", headers=key)
    api.error(response, 415, "UNSUPPORTED_MEDIA_TYPE")


def test_powers_of_what_is_published_and_of_the_draft(api: Any, key: dict[str, str]) -> None:
    publish("alpha", body="See https://old.example/ first.")
    publish("alpha", body="See https://new.example/ first.")
    document = api.ok(api.get("operator/bundle_powers?capability_id=alpha", headers=key), "bundle_powers")
    assert (document["revision"], document["compared_with"]) == (2, 1)
    assert [power["name"] for power in document["added"]] == ["new.example"]
    assert [power["name"] for power in document["removed"]] == ["old.example"]
    save_draft(capability_id="alpha", files=LOOSER, based_on=None, by=OLGA)
    document = api.ok(api.get("operator/bundle_powers?capability_id=alpha&of=draft", headers=key), "bundle_powers")
    assert (document["revision"], document["compared_with"]) == (None, 2)
    assert [(power["kind"], power["requires_approval"]) for power in document["added"]] == [("write_tool", True)]
    api.error(api.get("operator/bundle_powers?capability_id=alpha&of=x", headers=key), 400, "INVALID_REQUEST")
    api.error(api.get("operator/bundle_powers?capability_id=nothing", headers=key), 404, "CAPABILITY_NOT_FOUND")


def test_a_dry_run_says_what_a_bundle_may_do(api: Any, key: dict[str, str]) -> None:
    body = _batch(LOOSER, dry_run=True)
    document = api.ok(api.post("operator/bundle_publish", body, headers=key), "bundle_results")
    assert [power["name"] for power in document["results"][0]["powers"]["powers"]] == ["alpha_entry"]


def test_quarantine_and_restore(api: Any, key: dict[str, str]) -> None:
    publish()
    body = {"capability_id": "alpha", "note": "It may do harm"}
    document = api.ok(api.post("operator/capability_quarantine", body, headers=key), "capability_status")
    assert document == {"capability_id": "alpha", "status": "quarantined", "replaced_by": None}
    (row,) = api.ok(api.get("operator/bundle_list", headers=key), "bundle_list")["capabilities"]
    assert row["status"] == "quarantined"
    api.error(api.post("operator/capability_quarantine", body, headers=key), 409, "STATUS_CONFLICT")
    other = {"Authorization": f"Bearer {agent_key('read', name='reader')}"}
    api.error(api.post("operator/capability_quarantine", body, headers=other), 403, "FORBIDDEN")
    assert AuditEvent.objects.get(verb="capability.quarantine").detail == {
        "note": "It may do harm",
        "from": "published",
    }
    error = api.error(api.post("operator/capability_restore", body, headers=key), 403, "FORBIDDEN")
    assert "bundle restore alpha --note WHY" in error["message"]


def test_a_key_that_retires_what_is_quarantined_does_not_get_it_back(api: Any, key: dict[str, str]) -> None:
    publish()
    body = {"capability_id": "alpha", "note": "It may do harm"}
    api.ok(api.post("operator/capability_quarantine", body, headers=key), "capability_status")
    api.ok(api.post("operator/capability_retire", body, headers=key), "capability_status")
    api.error(api.post("operator/capability_restore", body, headers=key), 403, "FORBIDDEN")
    published = api.post("operator/bundle_publish", _batch(bundle(body="Again.")), headers=key)
    assert _results(api, published) == [("path/0", "alpha", "published", 2)]
    (row,) = api.ok(api.get("operator/bundle_list", headers=key), "bundle_list")["capabilities"]
    assert row["status"] == "quarantined"


def test_busy_checks_are_a_503_that_says_when_to_come_back(
    api: Any, key: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: object, **__: object) -> None:
        raise ChecksBusy

    monkeypatch.setattr(bundle_set, "validate_bundle", busy)
    response = api.post("operator/bundle_validate", _batch(bundle()), headers=key)
    assert (response.status_code, response["Retry-After"]) == (503, "5")
    assert response.json()["error"]["code"] == "REGISTRY_UNAVAILABLE"


def test_call_of_which_nothing_could_be_checked_is_a_503_of_its_own(
    api: Any, key: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_place, "SECONDS_MAX", -1.0)
    for verb in ("bundle_validate", "bundle_publish", "bundle_import"):
        response = api.post(f"operator/{verb}", _batch(bundle()), headers=key)
        assert (response.status_code, response["Retry-After"]) == (503, "5"), verb
        assert response.json()["error"]["code"] == "CHECK_UNFINISHED"
