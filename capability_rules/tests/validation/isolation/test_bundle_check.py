"""What is kept of a check that does not end is tested with the pool (test_pool.py); here, what it never got to say."""

from __future__ import annotations

from capability_rules.validation.isolation.bundle_check import check_in_pool
from capability_rules.validation.isolation.pool import CheckEnded, CheckPool


class _Gone(CheckPool):
    def run(self, *_: object, **__: object) -> dict[str, object]:
        raise CheckEnded


def test_texts_are_kept_although_nothing_was_read() -> None:
    report = check_in_pool(_Gone(1), {"skill.md": b"# \xff", "notes.txt": "x"})
    assert report.files == {"skill.md": "# \ufffd", "notes.txt": "x"}
    assert [one.code for one in report.errors] == ["CHECK_UNFINISHED"]
