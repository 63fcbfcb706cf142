"""Bundles checked in processes that can be ended."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from capability_rules.bundles.validation_context import ValidationContext
from capability_rules.validation import Report, validate_bundle
from capability_rules.validation.in_place import check_in_place
from capability_rules.validation.isolation import pool as pool_module
from capability_rules.validation.isolation.bundle_check import check_in_pool
from capability_rules.validation.isolation.messages import pack_files
from capability_rules.validation.isolation.pool import CheckEnded, CheckPool, ChecksBusy, current_pool, use_processes
from capability_rules.validation.security.detectors.confusables import IdIndex
from tests.bundle_files import bundle, to_json, tool

PREPARED = "from capability_rules.validation.isolation import process; process.prepare = lambda: None; "
# The check of tools never ends, in native code that no thread could interrupt.
ENDLESS = PREPARED + (
    "from capability_rules.validation import pipeline; process.CPU_SECONDS_MAX = 0.2; "
    "pipeline.check_tools = lambda *_: [sum(range(10**7)) for _ in iter(int, 1)]; process.main()"
)
SILENT = PREPARED + "import time; process._OPERATIONS = {'check': lambda *_: time.sleep(60)}; process.main()"


@pytest.fixture
def pool() -> Iterator[CheckPool]:
    made = CheckPool(2)
    yield made
    made.stop()


def _use(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    monkeypatch.setattr(pool_module, "_COMMAND", (sys.executable, "-c", code))


def test_report_is_the_one_that_would_be_made_here(pool: CheckPool) -> None:
    published = ValidationContext({"alpha_list": "other"}, IdIndex(["a1pha"]))
    files: dict[str, bytes | str] = {
        **bundle(),
        "skill.md": b"\xef\xbb\xbf# A\r\n\xff",
        "tools.json": to_json([tool("alpha_list")]),
    }
    here, there = check_in_place(files, published), check_in_pool(pool, files, published)
    assert there == here
    assert {"TOOL_NAME_COLLISION", "SEC_LOOKALIKE_ID", "TEXT_NOT_UTF8"} <= {one.code for one in there.findings}
    assert check_in_pool(pool, bundle()).bundle == check_in_place(bundle()).bundle


def test_name_that_a_reader_must_not_know_stays_unnamed(pool: CheckPool) -> None:
    published = ValidationContext({"alpha_list": "other"}, IdIndex(["a1pha"])).visible_to(lambda _: False, own="alpha")
    report = check_in_pool(pool, bundle() | {"tools.json": to_json([tool("alpha_list")])}, published)
    (collision,) = (one for one in report.findings if one.code == "TOOL_NAME_COLLISION")
    assert "another capability" in collision.message
    assert "SEC_LOOKALIKE_ID" not in {one.code for one in report.findings}


def test_one_process_serves_bundle_after_bundle(pool: CheckPool) -> None:
    check_in_pool(pool, bundle())
    (process,) = pool._idle
    assert check_in_pool(pool, bundle()).ok
    assert pool._idle == [process]


def test_check_that_does_not_end_is_ended_and_named(pool: CheckPool, monkeypatch: pytest.MonkeyPatch) -> None:
    files: dict[str, bytes | str] = {**bundle(), "skill.md": b"\xef\xbb\xbfno heading\r\n", "more.txt": "x"}
    with monkeypatch.context() as endless:
        _use(endless, ENDLESS)
        report = check_in_pool(pool, files)
    (failure,) = (one for one in report.errors if one.code == "CHECK_UNFINISHED")
    assert "tools.json" in failure.message
    # What was found and read before it is not lost.
    assert "FILE_UNKNOWN" in {one.code for one in report.findings}
    assert (report.files["skill.md"], report.capability_id, report.ok) == ("no heading\n", "alpha", False)
    assert pool._count == 0
    assert check_in_pool(pool, bundle()).ok


def test_process_that_waits_for_ever_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = CheckPool(1, answer_seconds_max=0.3)
    _use(monkeypatch, SILENT)
    assert [one.code for one in check_in_pool(pool, bundle()).errors] == ["CHECK_UNFINISHED"]


def test_process_that_cannot_be_started_refuses(pool: CheckPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "_COMMAND", ("/nowhere/python",))
    pool.start()
    assert [one.code for one in check_in_pool(pool, bundle()).errors] == ["CHECK_UNFINISHED"]


def test_process_that_died_is_replaced(pool: CheckPool) -> None:
    pool.start()
    for process in pool._idle:
        process._popen.kill()
        process._popen.wait()
    assert check_in_pool(pool, bundle()).ok
    assert pool._count == 2


def test_bundle_beside_one_that_does_not_end_has_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    pool, reports, taken = CheckPool(2, answer_seconds_max=60.0), list[Report](), list[Any]()
    take = pool._take

    def take_one() -> Any:
        taken.append(take())
        return taken[-1]

    monkeypatch.setattr(pool, "_take", take_one)
    endless = threading.Thread(target=lambda: reports.append(check_in_pool(pool, bundle())))
    with monkeypatch.context() as patched:
        _use(patched, ENDLESS.replace("0.2", "60"))
        endless.start()
        while not taken:
            pass
    assert check_in_pool(pool, bundle()).ok
    assert not reports
    taken[0].end()
    endless.join()
    assert [one.code for one in reports[0].errors] == ["CHECK_UNFINISHED"]
    pool.stop()


def test_bundle_that_has_no_turn_in_time_is_refused(pool: CheckPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "_TURN_SECONDS_MAX", 0.0)
    taken = [pool._take(), pool._take()]
    with pytest.raises(ChecksBusy):
        check_in_pool(pool, bundle())
    for process in taken:
        process.end()
        pool._give_back(process)


def test_more_bundles_than_will_have_their_turn_are_refused_at_once(pool: CheckPool) -> None:
    pool._waiting += [""] * 16 * pool._most
    with pytest.raises(ChecksBusy):
        check_in_pool(pool, bundle())


def test_one_caller_holds_all_processes_but_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "_TURN_SECONDS_MAX", 0.0)
    caller = ["anna"]
    pool = CheckPool(2, get_caller=lambda: caller[0])
    taken = [pool._take()]
    with pytest.raises(ChecksBusy):
        pool._take()
    caller[0] = "ben"
    taken.append(pool._take())
    pool._give_back(taken.pop(0))
    with pytest.raises(ChecksBusy):
        pool._take()
    caller[0] = ""
    taken += [pool._take()]
    for process in taken:
        pool._give_back(process)
    pool.stop()


def test_one_caller_waits_in_half_of_the_places(pool: CheckPool) -> None:
    pool._get_caller = lambda: "anna"
    pool._waiting += ["anna"] * 8 * pool._most
    with pytest.raises(ChecksBusy):
        pool._take()


def test_callers_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    caller, served = threading.local(), list[str]()
    caller.name = "anna"
    pool = CheckPool(1, get_caller=lambda: caller.name)
    held = pool._take()

    def wait(name: str) -> None:
        caller.name = name
        process = pool._take()
        served.append(name)
        pool._give_back(process)

    threads = []
    for name in ("anna", "anna", "ben"):
        threads.append(threading.Thread(target=wait, args=[name]))
        threads[-1].start()
        while len(pool._waiting) < len(threads):
            pass
    pool._give_back(held)
    for thread in threads:
        thread.join()
    assert served == ["ben", "anna", "anna"]
    pool.stop()


def test_end_by_its_own_limit_is_told_from_one_for_want_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as endless:
        _use(endless, ENDLESS)
        with pytest.raises(CheckEnded) as ended:
            CheckPool(1).run({"do": "check", "files": pack_files(bundle())})
    assert ended.value.is_limit
    _use(monkeypatch, SILENT)
    with pytest.raises(CheckEnded) as ended:
        CheckPool(1, answer_seconds_max=0.3).run({"do": "check", "files": {}})
    assert not ended.value.is_limit


def test_stop_leaves_no_process_behind(pool: CheckPool) -> None:
    check_in_pool(pool, bundle())
    (process,) = pool._idle
    pool.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(process._popen.pid, 0)
    assert check_in_pool(pool, bundle()).ok


def test_after_a_fork_the_processes_of_the_parent_are_left_alone(
    pool: CheckPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_in_pool(pool, bundle())
    (parents,) = pool._idle
    real = os.getpid()
    with monkeypatch.context() as child:
        child.setattr(os, "getpid", lambda: real + 1)
        assert check_in_pool(pool, bundle()).ok
        assert parents not in pool._idle
        pool.stop()
    assert parents.is_alive
    parents.end()


def test_validation_uses_the_processes_of_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    assert current_pool() is None
    try:
        use_processes(1)
        pool = current_pool()
        assert pool is not None
        assert validate_bundle(bundle()).ok
        assert pool._count == 1
    finally:
        use_processes(0)
    assert current_pool() is None
