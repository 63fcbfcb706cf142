"""Load answers in memory: bounded by bytes, the least used one goes first."""

from __future__ import annotations

import pytest

from registry.common.errors import SkillMalformed
from registry.snapshot.response_cache import RenderedResponse, ResponseCache


def _rendered(size: int) -> RenderedResponse:
    return RenderedResponse(b"x" * size)


def test_an_answer_is_made_once() -> None:
    cache = ResponseCache()
    first = cache.get("a", lambda: _rendered(10))
    assert cache.get("a", lambda: _rendered(99)) is first


def test_the_least_used_goes_first() -> None:
    cache = ResponseCache(bytes_max=60)
    a, b = cache.get("a", lambda: _rendered(10)), cache.get("b", lambda: _rendered(10))
    cache.get("a", lambda: _rendered(99))
    cache.get("c", lambda: _rendered(11))
    assert cache.bytes_held <= 60
    assert cache.get("a", lambda: _rendered(1)) is a
    assert cache.get("b", lambda: _rendered(10)) is not b


def test_looking_at_one_is_using_it() -> None:
    cache = ResponseCache(bytes_max=60)
    for key in ("a", "b", "c"):
        cache.get(key, lambda: _rendered(10))
    a = cache.peek("a")
    cache.get("d", lambda: _rendered(10))
    assert cache.peek("a") is a
    assert cache.peek("b") is None
    assert cache.peek("nobody") is None


def test_one_larger_than_the_bound_is_kept_alone() -> None:
    cache = ResponseCache(bytes_max=60)
    cache.get("a", lambda: _rendered(10))
    large = cache.get("b", lambda: _rendered(1000))
    assert cache.get("b", lambda: _rendered(1)) is large
    cache.forget("b")
    assert cache.bytes_held == 0


def test_forgetting() -> None:
    cache = ResponseCache()
    for key in ("a", "b"):
        cache.get(key, lambda: _rendered(10))
    cache.forget("a")
    cache.forget("nobody")
    assert cache.bytes_held == _rendered(10).size_bytes
    cache.forget()
    assert cache.bytes_held == 0


def test_a_malformed_one_is_remembered_and_then_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def fail() -> RenderedResponse:
        made.append(1)
        raise SkillMalformed("x")

    cache = ResponseCache()
    for _ in range(3):
        with pytest.raises(SkillMalformed):
            cache.get("a", fail)
    assert len(made) == 1
    monkeypatch.setattr("registry.snapshot.response_cache.time.monotonic", lambda: 1e12)
    assert cache.get("a", lambda: _rendered(10)).identity == b"x" * 10


def test_another_failure_is_not_remembered() -> None:
    def fail() -> RenderedResponse:
        raise ValueError("broken")

    cache = ResponseCache()
    with pytest.raises(ValueError, match="broken"):
        cache.get("a", fail)
    assert cache.get("a", lambda: _rendered(1)).identity == b"x"
