"""`manage.py bundle scan-results`, as text and as one JSON document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from registry.catalog import drafts
from registry.publishing.scan_results import get_files_digest
from tests.factories import OLGA, bundle
from tests.shapes import assert_shape

pytestmark = pytest.mark.django_db

FILES = bundle()
LOG = {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "Trivy", "version": "0.50"}}, "results": []}]}


@pytest.fixture(autouse=True)
def _draft() -> None:
    drafts.replace_draft(capability_id="alpha", files=FILES, by=OLGA)


def test_scan_results_of_a_file(manage: Any, tmp_path: Path) -> None:
    path = tmp_path / "log.sarif"
    path.write_text(json.dumps(LOG), encoding="utf-8")
    exported = manage(
        "bundle", "export", "alpha", "--draft", "--to", str(tmp_path / "out"), "--format", "json"
    ).document
    digest = get_files_digest(FILES)
    assert exported["files_digest"] == digest
    done = manage("bundle", "scan-results", "alpha", str(path), "--digest", digest)
    assert done.out == (
        f"alpha: stored for the texts {digest}\n  Trivy 0.50: errors 0, warnings 0, notes 0, suppressed 0\n"
    )
    document = manage("bundle", "scan-results", "alpha", str(path), "--format", "json").document
    assert_shape(document, "scan_results")


def test_logs_that_cannot_be_read(manage: Any, tmp_path: Path) -> None:
    large, broken = tmp_path / "large.sarif", tmp_path / "broken.sarif"
    large.write_bytes(b" " * (1024 * 1024 + 9))
    broken.write_text('{"version": "2.1.0",\n "runs": [}', encoding="utf-8")
    for path, words in (
        (large, "at most 1,048,576"),
        (broken, "at line 2, column"),
        (tmp_path / "none.sarif", "No such file"),
    ):
        done = manage("bundle", "scan-results", "alpha", str(path))
        assert (done.code, words in done.err) == (1, True), done.err
