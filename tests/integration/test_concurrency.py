"""Eight processes at once, on both databases: one winner, and the log holds."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.integration.conftest import Site

pytestmark = pytest.mark.slow

RACERS = 8
# SQLite lets one write at a time, whatever it is: one race for a number and one for a version hold it each time.
_EACH_ON_POSTGRESQL = pytest.mark.parametrize(
    "site", [pytest.param("sqlite", marks=pytest.mark.rare), "postgresql"], indirect=True
)


def _race(site: Site, verb: str) -> dict[str, Any]:
    report: dict[str, Any] = site.run("racers.py", "each", verb, str(RACERS))
    assert report["audit_broken"] is None
    assert report["releases"] == list(range(1, len(report["releases"]) + 1))
    return report


def _counts(report: dict[str, Any]) -> dict[str, int]:
    return dict(Counter(report["outcomes"]))


@_EACH_ON_POSTGRESQL
def test_one_tool_name_has_one_owner(site: Site) -> None:
    report = _race(site, "publish_tool")
    assert _counts(report) == {"published": 1, "refused": RACERS - 1}
    assert [status for _, status in report["capabilities"]] == ["published"]
    assert report["tool_names"] == ["shared_list"]


def test_every_publish_of_one_capability_has_a_number_of_its_own(site: Site) -> None:
    report = _race(site, "publish_same")
    assert _counts(report) == {"published": RACERS}
    assert report["revisions"] == list(range(1, RACERS + 1))


@_EACH_ON_POSTGRESQL
def test_the_same_texts_are_one_revision(site: Site) -> None:
    report = _race(site, "publish_equal")
    assert _counts(report) == {"published": 1, "unchanged": RACERS - 1}
    assert report["revisions"] == [1]


def test_one_of_many_saves_wins(site: Site) -> None:
    report = _race(site, "save_draft")
    assert _counts(report) == {"2": 1, "DRAFT_CONFLICT": RACERS - 1}
    assert report["drafts"] == [2]


@_EACH_ON_POSTGRESQL
def test_one_of_many_first_saves_wins(site: Site) -> None:
    report = _race(site, "save_first")
    assert _counts(report) == {"1": 1, "DRAFT_CONFLICT": RACERS - 1}
    assert report["drafts"] == [1]


@_EACH_ON_POSTGRESQL
def test_one_draft_is_published_once(site: Site) -> None:
    report = _race(site, "publish_draft")
    counts = _counts(report)
    assert counts.pop("published") == 1
    assert set(counts) <= {"DRAFT_NOT_FOUND", "DRAFT_CONFLICT"}
    assert report["revisions"] == [1]
