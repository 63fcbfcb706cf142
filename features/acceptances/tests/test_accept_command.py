"""`manage.py bundle accept`, and what publishing and importing say of passages that wait."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from features.acceptances.models import Acceptance
from registry.catalog import drafts
from registry.models import Revision
from tests.factories import DOUBT, OLGA, bundle
from tests.shapes import assert_shape

pytestmark = pytest.mark.django_db


def _write(folder: Path, *names: str, body: str = DOUBT) -> str:
    for name in names:
        (folder / name).mkdir(parents=True)
        for file, text in bundle(name, body=body).items():
            (folder / name / file).write_text(text, encoding="utf-8")
    return str(folder)


@pytest.mark.both_databases
def test_folder_publishes_the_rest_and_names_the_one_command_that_decides(manage: Any, tmp_path: Path) -> None:
    _write(tmp_path, "beta", "gamma")
    folder = _write(tmp_path, "alpha", body="Nothing special.")
    done = manage("bundle", "import", folder, "--publish")
    assert done.code == 1
    assert [row.capability.capability_id for row in Revision.objects.all()] == ["alpha"]
    assert "held[SEC_" in done.out
    assert "2 bundles wait for a decision about passages" in done.out
    (command,) = (line.strip() for line in done.out.splitlines() if line.strip().startswith("bundle accept"))
    assert command == "bundle accept beta gamma --all --reason WHY"
    accepted = manage("bundle", "accept", "beta", "gamma", "--all", "--reason", "They quote our policy")
    assert (accepted.code, accepted.err) == (0, "")
    assert accepted.out.count("is fine: They quote our policy") == 2
    again = manage("bundle", "import", folder, "--publish")
    assert again.code == 0
    assert "accepted warning[SEC_" in again.out
    assert "accepted: by command_line:" in again.out
    assert "wait for a decision" not in again.out
    assert {row["reason"] for one in Revision.objects.all() for row in one.held_decisions} == {"They quote our policy"}


def test_one_passage_of_a_draft_by_its_place_as_json(manage: Any) -> None:
    two = f"{DOUBT}\n\n{DOUBT.replace('500', '900')}"
    drafts.replace_draft(capability_id="alpha", files=bundle(body=two), by=OLGA)
    place = manage("bundle", "publish", "--draft", "alpha", "--format", "json").document["results"][0]["findings"][0]
    where = f"{place['file']}:{place['line']}"
    given = ("--place", where, "--reason", "Known", "--format", "json")
    document = manage("bundle", "accept", "alpha", *given).document
    (row,) = document["accepted"]
    assert sorted(row) == ["alone", "at", "by", "capability_id", "doubt", "file", "line", "passage", "reason"]
    assert (row["capability_id"], row["file"], row["line"]) == ("alpha", place["file"], place["line"])
    assert (row["passage"], row["reason"], row["alone"]) == (DOUBT, "Known", False)
    document = manage("bundle", "publish", "--draft", "alpha", "--format", "json").document
    assert_shape(document, "bundle_results")
    assert [one["code"] for one in document["results"][0]["findings"] if one["severity"] == "error"] == ["SEC_HELD"]


def test_validate_says_what_is_held_and_fails_nothing(manage: Any, tmp_path: Path) -> None:
    folder = _write(tmp_path, "alpha")
    done = manage("bundle", "validate", folder)
    assert (done.code, "held[SEC_" in done.out, done.out.endswith("ok (1 held)\n")) == (0, True, True)
    document = manage("bundle", "validate", folder, "--format", "json").document
    (finding,) = document["bundles"][0]["findings"]
    assert (finding["held"], finding["severity"]) == (True, "warning")


@pytest.mark.parametrize(
    ("given", "code", "words"),
    [
        (["alpha", "--all", "--reason", "x"], 1, "Nothing of 'alpha' waits"),
        (["alpha", "--reason", "x"], 2, "one of the arguments --place --all is required"),
        (["alpha", "--all"], 2, "--reason"),
        (["alpha", "--all", "--place", "skill.md:1", "--reason", "x"], 2, "not allowed with"),
    ],
)
def test_call_that_decides_nothing_says_why(given: list[str], code: int, words: str, manage: Any) -> None:
    done = manage("bundle", "accept", *given)
    assert (done.code, words in done.err) == (code, True), done.err
    assert not Acceptance.passages.exists()
