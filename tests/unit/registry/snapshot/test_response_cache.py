"""Load answers in memory: bounded by bytes, the least used one goes first."""

from __future__ import annotations

import json
from typing import Any

import pytest

from registry.catalog import drafts
from registry.common.errors import SkillMalformed
from registry.snapshot.response_cache import (
    RESPONSE_CACHE,
    DraftChanged,
    RenderedResponse,
    ResponseCache,
    get_load_response,
    response_key,
)
from registry.snapshot.snapshot import read_drafts
from registry.snapshot.visibility import without_write_tools
from tests.factories import OLGA, bundle, tool


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


def _save(version: int | None, **fields: Any) -> None:
    drafts.save_draft(capability_id="alpha", files=bundle(**fields), based_on=version, by=OLGA)


@pytest.mark.django_db
def test_a_draft_that_was_saved_since_is_served_as_it_is_now() -> None:
    _save(None, body="Older.")
    entry = read_drafts()["alpha"]
    _save(1, body="Newer.")
    assert b"Newer." in get_load_response(entry).identity
    with pytest.raises(DraftChanged):
        get_load_response(entry, exact=True)
    # What was cached is the newer draft's, under its own key.
    assert RESPONSE_CACHE.peek(response_key(entry)) is None
    assert RESPONSE_CACHE.peek(response_key(read_drafts()["alpha"])) is not None


@pytest.mark.django_db
def test_a_newer_draft_without_write_tools_has_none_either() -> None:
    _save(None, tools=[tool("alpha_list"), tool("alpha_create", "write")], body="Older.")
    entry = without_write_tools(read_drafts()["alpha"])
    _save(1, tools=[tool("alpha_list"), tool("alpha_create", "write")], body="Newer.")
    document = json.loads(get_load_response(entry).identity)
    assert "Newer." in document["skill_doc"]
    assert [each["name"] for each in document["tools"]] == ["alpha_list"]


@pytest.mark.django_db
@pytest.mark.parametrize("change", ["it fails", "it is gone"])
def test_a_newer_draft_that_cannot_be_served_is_refused(change: str) -> None:
    _save(None)
    entry = read_drafts()["alpha"]
    if change == "it fails":
        _save(1, description=None)
    else:
        drafts.discard_draft(capability_id="alpha", by=OLGA)
    with pytest.raises(DraftChanged):
        get_load_response(entry)
