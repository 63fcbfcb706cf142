"""Bundles that are checked while the caller works on the ones before them."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from capability_rules.bundles.validation_context import ValidationContext
from capability_rules.validation import Report, lookahead, validate_bundle
from capability_rules.validation.isolation import pool
from capability_rules.validation.lookahead import validate_in_turn
from capability_rules.validation.security.detectors.confusables import IdIndex
from tests.bundle_files import Files, bundle, tool

SECONDS_MAX = 20


class _Checks:
    """In place, in whichever thread; tells how many have ended."""

    def __init__(self) -> None:
        self.threads: list[threading.Thread] = []
        self._done = threading.Semaphore(0)

    def __call__(self, files: Mapping[str, bytes | str], *, published: ValidationContext) -> Report:
        self.threads.append(threading.current_thread())
        report = validate_bundle(files, published=published)
        self._done.release()
        return report

    def wait(self, count: int) -> None:
        for _ in range(count):
            assert self._done.acquire(timeout=SECONDS_MAX)


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> _Checks:
    """As where there are processes, without them."""
    counted = _Checks()
    monkeypatch.setattr(lookahead, "validate_bundle", counted)
    monkeypatch.setattr(lookahead, "current_pool", object)
    return counted


def _bundles(count: int) -> list[Files]:
    return [bundle(f"number_{number}", body=f"Say {number}.") for number in range(count)]


def _codes(report: Report) -> list[str]:
    return [finding.code for finding in report.findings]


def test_reports_come_in_the_order_of_the_bundles(checks: _Checks) -> None:
    bundles = [*_bundles(10), {"skill.md": "# A"}]
    reports = list(validate_in_turn(bundles, ValidationContext))
    assert reports == [validate_bundle(files) for files in bundles]
    assert threading.current_thread() not in checks.threads


def test_the_next_bundles_are_checked_before_they_are_asked_for(checks: _Checks) -> None:
    reports = validate_in_turn(_bundles(10), ValidationContext)
    assert next(reports).capability_id == "number_0"
    checks.wait(4)
    assert [next(reports).capability_id for _ in range(9)] == [f"number_{number}" for number in range(1, 10)]


def test_numbered_ids_are_checked_once(checks: _Checks) -> None:
    ids = IdIndex()
    reports = validate_in_turn(_bundles(4), lambda: ValidationContext(capability_ids=ids))
    first = next(reports)
    checks.wait(4)
    ids.add(first.capability_id)
    for report in reports:
        ids.add(report.capability_id)
    assert len(checks.threads) == 4


def test_a_tool_name_that_was_taken_meanwhile_is_found(checks: _Checks) -> None:
    owners: dict[str, str] = {}
    bundles = [bundle(), bundle("beta", tools=[tool("shared_list")]), bundle("gamma", tools=[tool("other_list")])]
    reports = validate_in_turn(bundles, lambda: ValidationContext(owners))
    next(reports)
    checks.wait(3)
    owners["shared_list"] = "alpha"
    assert [_codes(report) for report in reports] == [["TOOL_NAME_COLLISION"], []]
    # The third was asked about another name: its report is the first one.
    assert len(checks.threads) == 4


def test_an_id_that_was_published_meanwhile_is_compared(checks: _Checks) -> None:
    ids: set[str] = set()
    reports = validate_in_turn([bundle(), bundle("weights")], lambda: ValidationContext(capability_ids=ids))
    next(reports)
    checks.wait(2)
    ids.add("weight5")
    ids.add("weightss")
    assert _codes(next(reports)) == _codes(validate_bundle(bundle("weights"), published=ValidationContext({}, ids)))
    assert len(checks.threads) == 3


def test_bundles_and_what_is_published_are_read_in_the_thread_of_the_caller(checks: _Checks) -> None:
    readers = []

    def read() -> Iterator[Files]:
        for files in _bundles(6):
            readers.append(threading.current_thread())
            yield files

    def get_published() -> ValidationContext:
        readers.append(threading.current_thread())
        return ValidationContext()

    assert len(list(validate_in_turn(read(), get_published))) == 6
    assert {*readers} == {threading.current_thread()}
    assert {*readers}.isdisjoint(checks.threads)


def test_nothing_is_checked_for_a_caller_who_went_away(checks: _Checks) -> None:
    reports = validate_in_turn(_bundles(50), ValidationContext)
    next(reports)
    reports.close()  # type: ignore[attr-defined]
    assert len(checks.threads) <= 5
    assert not any(thread.is_alive() for thread in checks.threads)


def test_a_check_that_cannot_be_made_is_the_error_of_its_turn(checks: _Checks, monkeypatch: pytest.MonkeyPatch) -> None:
    def check(files: Mapping[str, Any], **context: Any) -> Report:
        if "number_2" in files["capability.json"]:
            raise pool.ChecksBusy
        return checks(files, **context)

    monkeypatch.setattr(lookahead, "validate_bundle", check)
    reports = validate_in_turn(_bundles(4), ValidationContext)
    assert [next(reports).capability_id for _ in range(2)] == ["number_0", "number_1"]
    with pytest.raises(pool.ChecksBusy):
        next(reports)


def test_in_place_each_is_checked_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = _Checks()
    monkeypatch.setattr(lookahead, "validate_bundle", counted)
    reports = validate_in_turn(_bundles(3), ValidationContext)
    next(reports)
    assert counted.threads == [threading.current_thread()]
