"""`clawhub skill publish`, call by call: announced, sent, and published or handed in as the key's scope says."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from features.clawhub import skill_uploads
from features.clawhub.feature import PRUNE_KIND
from features.clawhub.models import SkillUpload
from registry.catalog.drafts import get_active_draft
from registry.models import Capability, Proposal, Revision
from registry.operations import housekeeping, worker
from studio.config.parsers import Rate
from tests.factories import bearer, bundle, publish, tool

pytestmark = pytest.mark.django_db
API = "/clawhub/api/v1/"
Headers = dict[str, str]
TEA = """---
name: tea-timer
description: Times tea. Use when somebody brews tea.
---
# Tea

## When to use

When somebody brews tea.

## Default behavior

Say three minutes.
"""


@pytest.fixture
def publisher() -> Headers:
    return bearer("read", "publish", name="ci")


@pytest.fixture
def proposer() -> Headers:
    return bearer("read", "propose", name="ann")


def _post(path: str, body: Any, headers: Headers, content_type: str = "application/json") -> Any:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    address = path if path.startswith("/") else API + path
    # No CSRF token and no cookies, as from a client.
    return Client(enforce_csrf_checks=True).post(address, raw, content_type=content_type, headers=headers)


def _refusal(response: Any, status: int) -> str:
    assert response.status_code == status, response.content
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    return str(response.content.decode())


def _announce(path: str, content: bytes, headers: Headers, /, **other: Any) -> Any:
    hashed = hashlib.sha256(content).hexdigest()
    body = {"path": path, "size": len(content), "sha256": hashed, "contentType": "text/markdown"} | other
    return _post("skills/-/upload-url", body, headers)


def _send(path: str, content: bytes, headers: Headers) -> dict[str, Any]:
    announced = _announce(path, content, headers)
    assert announced.status_code == 200, announced.content
    address = announced.json()["uploadUrl"]
    assert address.startswith("http://testserver/clawhub/")
    stored = _post(address.removeprefix("http://testserver"), content, headers, "text/markdown")
    assert stored.status_code == 200, stored.content
    ticket = announced.json()["uploadTicket"]
    return {"path": path, "storageId": stored.json()["storageId"], "uploadTicket": ticket}


def publish_skill(files: dict[str, str], headers: Headers, slug: str = "tea-timer", **other: Any) -> Any:
    sent = [_send(path, text.encode(), headers) for path, text in files.items()]
    body = {"slug": slug, "displayName": "Tea", "version": "1.0.0", "changelog": "First", "tags": ["latest"]}
    return _post("skills", body | {"acceptLicenseTerms": True, "files": sent} | other, headers)


def test_a_key_that_may_publish_publishes(publisher: Headers) -> None:
    done = publish_skill({"SKILL.md": TEA, ".notes.txt": "mine"}, publisher)
    assert done.status_code == 200, done.content
    body = done.json()
    findings = body.pop("findings")
    assert body == {
        "ok": True, "skillId": "tea_timer", "slug": "tea-timer", "versionId": "tea-timer@1.0.1", "version": "1.0.1",
        "status": "published", "publicationStatus": "published",
    }  # fmt: skip
    assert "IMPORT_FILE_LEFT_OUT" in {finding["code"] for finding in findings}
    revision = Revision.objects.get()
    assert (revision.capability.capability_id, revision.note) == ("tea_timer", "First")
    assert revision.created_by == "agent_key:ci"
    assert not SkillUpload.objects.exists()


@pytest.mark.parametrize(
    ("given", "name"), [("Tea, by the minute", "Tea, by the minute"), ("Tea Timer", "tea-timer"), ("", "tea-timer")]
)
def test_the_name_that_its_publisher_gives_is_the_capabilitys(given: str, name: str, publisher: Headers) -> None:
    done = publish_skill({"SKILL.md": TEA}, publisher, displayName=given)
    assert done.status_code == 200, done.content
    told = [finding["message"] for finding in done.json()["findings"] if finding["code"] == "IMPORT_KEY_MAPPED"]
    assert Revision.objects.get().name == name
    assert told == ([f"--name '{given}' became the name of the capability"] if name == given else [])
    shown = Client().get(f"{API}skills/tea-timer", headers=publisher).json()["skill"]
    assert shown["displayName"] == name


def test_a_proposal_has_the_name_too(proposer: Headers) -> None:
    publish_skill({"SKILL.md": TEA}, proposer, displayName="Tea, by the minute")
    draft = get_active_draft(Capability.objects.get(capability_id="tea_timer"))
    assert draft is not None
    assert '"Tea, by the minute"' in draft.files["capability.json"]


def test_what_the_files_say_wins_over_the_name_that_is_given(publisher: Headers) -> None:
    publish_skill(bundle("alpha_two"), publisher, "alpha-two", displayName="Other")
    assert Revision.objects.get().name != "Other"


def test_a_name_that_is_too_long_is_refused(publisher: Headers) -> None:
    assert "80 characters" in _refusal(publish_skill({"SKILL.md": TEA}, publisher, displayName="x" * 81), 400)
    assert not Revision.objects.exists()


@pytest.mark.parametrize("tags", [["beta"], ["latest", "beta"], "latest", [1], {}])
def test_another_tag_is_refused_rather_than_dropped(tags: Any, publisher: Headers) -> None:
    assert "leave --tags out" in _refusal(publish_skill({"SKILL.md": TEA}, publisher, tags=tags), 400)
    assert not Revision.objects.exists()


@pytest.mark.parametrize("tags", [[], ["latest"]])
def test_the_tag_of_every_newest_version_is_taken(tags: list[str], publisher: Headers) -> None:
    assert publish_skill({"SKILL.md": TEA}, publisher, tags=tags).status_code == 200


def test_the_same_folder_is_known_again(publisher: Headers) -> None:
    files = {"SKILL.md": TEA, "notes.txt": "mine"}
    publish_skill(files, publisher)
    lines = [f"{name}:{hashlib.sha256(files[name].encode()).hexdigest()}" for name in ("notes.txt", "SKILL.md")]
    hashed = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    known = Client().get(f"{API}resolve", {"slug": "tea-timer", "hash": hashed}, headers=publisher)
    assert known.json()["match"] == {"version": "1.0.1"}
    again = publish_skill(files, publisher, version="1.0.7").json()
    assert (again["status"], again["version"]) == ("published", "1.0.1")
    assert Revision.objects.count() == 1


def test_a_bundle_of_four_files_is_taken_as_it_is(publisher: Headers) -> None:
    done = publish_skill(bundle("alpha_two", [tool("alpha_list")]), publisher, "alpha-two")
    assert done.status_code == 200, done.content
    assert "alpha_list" in str(Revision.objects.get().tools_json)


def test_what_was_installed_can_be_published_again(publisher: Headers) -> None:
    publish("alpha", [tool("alpha_list")])
    version = Client().get(f"{API}skills/alpha/versions/1.0.1", headers=publisher).json()["version"]
    files = {}
    for row in version["files"]:
        answer = Client().get(f"{API}skills/alpha/file", {"path": row["path"]}, headers=publisher)
        files[row["path"]] = answer.content.decode()
    assert publish_skill(files, publisher, "alpha").json()["version"] == "1.0.1"


def test_a_key_that_may_propose_hands_in_for_review(proposer: Headers) -> None:
    body = publish_skill({"SKILL.md": TEA}, proposer).json()
    proposal = Proposal.objects.get()
    assert (body["status"], body["publicationStatus"]) == ("pending", "pending")
    assert body["attemptId"] == str(proposal.proposal_id)
    assert "version" not in body
    assert (proposal.key_name, proposal.note, proposal.status) == ("ann", "First", "draft")
    capability = Capability.objects.get(capability_id="tea_timer")
    assert capability.status == "draft"
    assert get_active_draft(capability) is not None
    assert not SkillUpload.objects.exists()


def test_keys_without_either_scope_are_refused(settings: Any) -> None:
    settings.AGENT_API_PUBLIC_READ = True
    reader = bearer("read", "feedback")
    for path in ("skills/-/upload-url", "skills", f"uploads/{'0' * 8}-0000-4000-8000-{'0' * 12}"):
        assert "'propose' or 'publish'" in _refusal(_post(path, {}, reader), 403)
        _refusal(_post(path, {}, {}), 401)


def test_what_the_gate_refuses_is_said_line_by_line(publisher: Headers) -> None:
    files = bundle("alpha", [tool("Not A Name")])
    text = _refusal(publish_skill(files, publisher, "alpha"), 422)
    assert text.splitlines()[0] == "'alpha' was not published"
    assert text.splitlines()[1].startswith("error FIELD_INVALID tools.json:3: ")
    assert not Revision.objects.exists()
    # The files stay for their hour: somebody may answer for the refusal meanwhile.
    assert SkillUpload.objects.count() == len(files)


def test_a_loosened_policy_is_refused_here_too(publisher: Headers) -> None:
    publish("alpha", [tool("alpha_save", "write")])
    loose = tool("alpha_save", "write", requires_approval=False)
    text = _refusal(publish_skill(bundle("alpha", [loose]), publisher, "alpha"), 422)
    assert "POLICY_LOOSENED" in text


def test_what_is_no_skill_is_refused_with_the_cause(publisher: Headers, proposer: Headers) -> None:
    for headers in (publisher, proposer):
        text = _refusal(publish_skill({"SKILL.md": "No front matter"}, headers), 422)
        assert "cannot be read as a skill" in text
        assert "SKILL.md" in text


def test_the_slug_must_be_what_the_skill_calls_itself(publisher: Headers) -> None:
    assert "--slug tea-timer" in _refusal(publish_skill({"SKILL.md": TEA}, publisher, "other"), 400)
    assert "lower-case" in _refusal(publish_skill({"SKILL.md": TEA}, publisher, "tea_timer"), 400)
    assert "no owner" in _refusal(publish_skill({"SKILL.md": TEA}, publisher, ownerHandle="@other"), 403)
    assert publish_skill({"SKILL.md": TEA}, publisher, ownerHandle="@ci").status_code == 200


def test_two_skills_in_one_folder_are_refused(publisher: Headers) -> None:
    files = {"SKILL.md": TEA, "more/SKILL.md": TEA.replace("tea-timer", "more")}
    assert "publish each by itself" in _refusal(publish_skill(files, publisher), 400)


@pytest.mark.parametrize("path", ["../SKILL.md", "/SKILL.md", "a\\b", "./SKILL.md"])
def test_paths_that_lead_out_are_refused(path: str, publisher: Headers) -> None:
    assert "is refused" in _refusal(publish_skill({"SKILL.md": TEA, path: "x"}, publisher), 400)


def test_bytes_that_were_not_announced_are_refused(publisher: Headers) -> None:
    announced = _announce("SKILL.md", b"four", publisher).json()
    address = announced["uploadUrl"].removeprefix("http://testserver")
    for content in (b"five", b"", b"fourfour"):
        assert "not those that were announced" in _refusal(_post(address, content, publisher, "text/plain"), 400)
    assert _post(address, b"four", publisher, "text/plain").status_code == 200
    # Sent once more, as a client does that did not hear the answer.
    assert _post(address, b"four", publisher, "text/plain").status_code == 200


def test_an_empty_file_is_a_file(publisher: Headers) -> None:
    assert publish_skill({"SKILL.md": TEA, "empty.txt": ""}, publisher).status_code == 200


def test_uploads_are_the_keys_own(publisher: Headers, proposer: Headers) -> None:
    announced = _announce("SKILL.md", b"x", publisher).json()
    address = announced["uploadUrl"].removeprefix("http://testserver")
    assert "not announced" in _refusal(_post(address, b"x", proposer, "text/plain"), 404)
    sent = _send("SKILL.md", TEA.encode(), publisher)
    _refusal(_post("skills", {"slug": "tea-timer", "files": [sent]}, proposer), 404)


def test_a_file_must_have_come_before_it_is_published(publisher: Headers) -> None:
    ticket = _announce("SKILL.md", TEA.encode(), publisher).json()["uploadTicket"]
    body = {"slug": "tea-timer", "files": [{"storageId": ticket}]}
    assert "not here" in _refusal(_post("skills", body, publisher), 404)
    sent = _send("SKILL.md", TEA.encode(), publisher)
    _refusal(_post("skills", {"slug": "tea-timer", "files": [sent, sent]}, publisher), 404)


@pytest.mark.parametrize("files", [None, [], "x", [1], [{}], [{"storageId": 1}], [{"storageId": "x"}], [{}] * 300])
def test_odd_lists_of_files_are_refused(files: Any, publisher: Headers) -> None:
    assert "storageId" in (text := _refusal(_post("skills", {"slug": "a", "files": files}, publisher), 400)) or (
        "files must be" in text
    )


@pytest.mark.parametrize(
    "other",
    [{"path": ""}, {"path": "a\nb"}, {"path": "x" * 501}, {"path": 1}, {"sha256": "x"}, {"size": -1}],
)
def test_odd_announcements_are_refused(other: dict[str, Any], publisher: Headers) -> None:
    _refusal(_announce("SKILL.md", b"x", publisher, **other), 400)
    _refusal(_post("skills/-/upload-url", b"{", publisher), 400)
    _refusal(_post("skills/-/upload-url", [], publisher), 400)


def test_sizes_are_bounded_and_said(publisher: Headers, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "at most 10,485,760" in _refusal(_announce("a.bin", b"", publisher, size=10 * 2**20 + 1), 413)
    monkeypatch.setattr(skill_uploads, "BYTES_MAX", 5)
    assert _announce("a", b"abcd", publisher).status_code == 200
    assert "in all" in _refusal(_announce("b", b"ab", publisher), 413)
    monkeypatch.setattr(skill_uploads, "FILES_MAX", 1)
    assert "on their way" in _refusal(_announce("b", b"a", publisher), 409)


def test_a_body_over_the_limit_is_not_read(publisher: Headers) -> None:
    address = _announce("a", b"abcd", publisher).json()["uploadUrl"].removeprefix("http://testserver")
    _refusal(_post(address, b"x" * (10 * 2**20 + 1), publisher, "application/octet-stream"), 413)


def test_uploads_are_forgotten_after_an_hour(publisher: Headers) -> None:
    sent = _send("SKILL.md", TEA.encode(), publisher)
    old = timezone.now() - skill_uploads.RETENTION - timedelta(seconds=1)
    SkillUpload.objects.update(created_at=old)
    _refusal(_post("skills", {"slug": "tea-timer", "files": [sent]}, publisher), 404)
    _announce("other.md", b"x", publisher)
    assert [upload.path for upload in SkillUpload.objects.all()] == ["other.md"]
    SkillUpload.objects.update(created_at=old)
    assert PRUNE_KIND in housekeeping.DAILY_JOBS
    worker.Worker().run_due()
    assert not SkillUpload.objects.exists()


def test_writes_are_limited(publisher: Headers, settings: Any) -> None:
    settings.RATE_LIMITS = {"write": Rate(2, 60)}
    _send("SKILL.md", b"x", publisher)
    refused = _announce("SKILL.md", b"x", publisher)
    assert refused.status_code == 429
    assert int(refused.headers["Retry-After"]) > 0


def test_nothing_is_published_below_a_share_link(publisher: Headers) -> None:
    refused = _post(f"/share/{'x' * 43}{API}skills", {}, publisher)
    assert "nothing is published" in _refusal(refused, 403)


@pytest.mark.parametrize("scope", ["publish", "propose"])
def test_a_limited_key_publishes_and_proposes_what_is_its_own_alone(scope: str) -> None:
    headers = bearer("read", scope, name="limited", capability_ids=["tea_timer"])
    words = _refusal(publish_skill({"SKILL.md": TEA.replace("tea-timer", "tea-table")}, headers, "tea-table"), 403)
    assert "The key 'limited' may change tea_timer only; 'tea_table' is not one of them" in words
    assert not Capability.objects.exists()
    assert publish_skill({"SKILL.md": TEA}, headers).status_code == 200
    assert Capability.objects.get().capability_id == "tea_timer"
