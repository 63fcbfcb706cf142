"""Limits count in memory, refuse with a time, and never grow without bound."""

from __future__ import annotations

import pytest
from django.test import Client
from pytest_django import Settings

from registry import limits
from registry.limits import RateLimited, RateLimiter
from studio.values import Rate


def test_the_call_over_the_limit_is_refused_until_the_window_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("registry.limits.time.monotonic", lambda: now[0])
    limiter = RateLimiter()
    for _ in range(3):
        limiter.spend("write", "a", count=3, seconds=60)
    assert limiter.is_spent("write", "a", count=3, seconds=60)
    now[0] = 110.0
    with pytest.raises(RateLimited) as refused:
        limiter.spend("write", "a", count=3, seconds=60)
    assert refused.value.retry_after_seconds == 51
    now[0] = 160.0
    assert not limiter.is_spent("write", "a", count=3, seconds=60)
    limiter.spend("write", "a", count=3, seconds=60)


def test_callers_and_kinds_are_counted_apart() -> None:
    limiter = RateLimiter()
    limiter.spend("write", "a", count=1, seconds=60)
    limiter.spend("write", "b", count=1, seconds=60)
    limiter.spend("guess", "a", count=1, seconds=60)


def test_a_flood_of_callers_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SUBJECTS_MAX", 10)
    limiter = RateLimiter()
    for number in range(100):
        limiter.spend("guess", str(number), count=1, seconds=60)
    assert len(limiter._windows) == 10


@pytest.fixture
def _fresh_limits() -> None:
    limits.LIMITER.forget()


@pytest.mark.django_db
@pytest.mark.usefixtures("_fresh_limits")
def test_guessing_keys_is_limited_by_address(client: Client, settings: Settings) -> None:
    settings.RATE_LIMITS = {"guess": Rate(2, 60)}
    url = "/api/v1/capability_registry_list"
    bad = {"Authorization": "Bearer wrong"}
    assert [client.get(url, headers=bad).status_code for _ in range(3)] == [401, 401, 429]
    refused = client.get(url, headers=bad)
    assert refused.json()["error"]["code"] == "RATE_LIMITED"
    assert 1 <= int(refused["Retry-After"]) <= 61
    assert client.get(url, headers=bad, REMOTE_ADDR="127.0.0.2").status_code == 401


@pytest.mark.django_db
@pytest.mark.usefixtures("_fresh_limits")
def test_off_means_no_limit(client: Client, settings: Settings) -> None:
    settings.RATE_LIMITS = {}
    bad = {"Authorization": "Bearer wrong"}
    assert {client.get("/api/v1/capability_registry_list", headers=bad).status_code for _ in range(30)} == {401}
