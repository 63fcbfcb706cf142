"""What blocks in the client is made of what awaits."""

from __future__ import annotations

from pathlib import Path

import pytest

from deploy import unasync


@pytest.mark.parametrize(("written", "made"), unasync.PAIRS)
def test_the_blocking_half_is_made_of_the_other_one(written: Path, made: Path) -> None:
    assert unasync.make_blocking(written.read_text("utf-8")) == made.read_text("utf-8"), "make sync"


def test_a_blocking_module_waits_for_nothing() -> None:
    for _, made in unasync.PAIRS:
        text = made.read_text("utf-8")
        assert not [word for word in ("await ", "async def", "async for", "asyncio.", "Awaitable") if word in text]


def test_a_stale_half_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    written = unasync.PAIRS[0][0]
    monkeypatch.setattr(unasync, "PAIRS", ((written, written),))
    assert unasync.main(["--check"]) == 1
    assert "make sync" in capsys.readouterr().err
