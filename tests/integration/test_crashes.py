"""A process that is killed during a publish leaves the old state or the new one whole (docs/contract.md 3)."""

from __future__ import annotations

import pytest

from tests.integration.conftest import Site

pytestmark = pytest.mark.slow


def test_a_publish_that_is_killed_leaves_the_old_state_or_the_new_one(site: Site) -> None:
    report = site.run("crashes.py", "each_step")
    assert len(report) == 18
    for point, found in report.items():
        assert found["killed"], point
        assert found["faults"] == [], point
        is_new = point == "commit after"
        # Up to the commit nothing is seen; from then on everything is.
        assert found["old"] == (not is_new), point
        assert found["draft_left"] == (not is_new), point
        assert found["next"] == ("unchanged" if is_new else "published"), point
