"""The operator API of outside scanners."""

from __future__ import annotations

from typing import Any

import pytest

from registry.catalog import drafts
from registry.models import ScanResults
from studio.config.parsers import Rate
from tests.factories import OLGA, agent_key, bundle

pytestmark = pytest.mark.django_db

LOG = {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "Trivy"}}, "results": []}]}


@pytest.fixture
def key() -> dict[str, str]:
    """A key that may publish, and a draft."""
    drafts.replace_draft(capability_id="alpha", files=bundle(), by=OLGA)
    return {"Authorization": f"Bearer {agent_key('publish', name='pipeline')}"}


def test_results_of_a_scanner(api: Any, key: dict[str, str]) -> None:
    draft = api.ok(api.get("operator/draft_get?capability_id=alpha", headers=key), "draft")
    body = {"capability_id": "alpha", "files_digest": draft["files_digest"], "sarif": LOG}
    document = api.ok(api.post("operator/scan_results_upload", body, headers=key), "scan_results")
    assert (document["files_digest"], document["tools"][0]["tool"]) == (draft["files_digest"], "Trivy")
    once = {**key, "Idempotency-Key": "one"}
    assert api.post("operator/scan_results_upload", body, headers=once).status_code == 200
    assert api.post("operator/scan_results_upload", body, headers=once)["Idempotency-Replayed"] == "true"
    reader = {"Authorization": f"Bearer {agent_key('propose', name='reader')}"}
    api.error(api.post("operator/scan_results_upload", body, headers=reader), 403, "FORBIDDEN")


def test_what_is_not_a_log_of_these_texts(api: Any, key: dict[str, str]) -> None:
    digest = f"sha256:{'0' * 64}"
    body = {"capability_id": "alpha", "files_digest": digest, "sarif": LOG}
    api.error(api.post("operator/scan_results_upload", body, headers=key), 404, "REVISION_NOT_FOUND")
    for more, words in (
        ({"files_digest": None}, "files_digest is missing"),
        ({"files_digest": "abc"}, "must have the form"),
        ({"sarif": "x"}, "sarif must be an object"),
    ):
        error = api.error(api.post("operator/scan_results_upload", body | more, headers=key), 400, "INVALID_REQUEST")
        assert words in error["message"]
    known = api.ok(api.get("operator/draft_get?capability_id=alpha", headers=key), "draft")["files_digest"]
    wrong = body | {"files_digest": known, "sarif": LOG | {"version": "1.0"}}
    error = api.error(api.post("operator/scan_results_upload", wrong, headers=key), 400, "INVALID_REQUEST")
    assert error["pointer"] == "/version"
    large = body | {"sarif": LOG | {"x": "y" * (1024 * 1024 + 9000)}}
    api.error(api.post("operator/scan_results_upload", large, headers=key), 413, "PAYLOAD_TOO_LARGE")
    assert not ScanResults.objects.exists()


def test_uploads_are_limited(api: Any, key: dict[str, str], settings: Any) -> None:
    settings.RATE_LIMITS = {"write": Rate(count=1, seconds=60)}
    body = {"capability_id": "alpha", "files_digest": "abc", "sarif": LOG}
    api.error(api.post("operator/scan_results_upload", body, headers=key), 400, "INVALID_REQUEST")
    api.error(api.post("operator/scan_results_upload", body, headers=key), 429, "RATE_LIMITED")
