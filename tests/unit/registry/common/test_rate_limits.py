"""Limits count in memory, refuse with a time, and never grow without bound."""

from __future__ import annotations

import pytest
from django.test import Client
from pytest_django import Settings

from registry.common import rate_limits
from registry.common.rate_limits import Backoff, FailureThrottle, RateLimited, RateLimiter, network_of
from studio.config.parsers import Rate


def test_the_call_over_the_limit_is_refused_until_the_window_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("registry.common.rate_limits.time.monotonic", lambda: now[0])
    limiter = RateLimiter()
    for _ in range(3):
        limiter.consume("write", "a", count=3, seconds=60)
    assert limiter.is_exhausted("write", "a", count=3, seconds=60)
    now[0] = 110.0
    with pytest.raises(RateLimited) as refused:
        limiter.consume("write", "a", count=3, seconds=60)
    assert refused.value.retry_after_seconds == 51
    now[0] = 160.0
    assert not limiter.is_exhausted("write", "a", count=3, seconds=60)
    limiter.consume("write", "a", count=3, seconds=60)


def test_callers_and_kinds_are_counted_apart() -> None:
    limiter = RateLimiter()
    limiter.consume("write", "a", count=1, seconds=60)
    limiter.consume("write", "b", count=1, seconds=60)
    limiter.consume("guess", "a", count=1, seconds=60)


def test_a_flood_of_callers_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits, "SUBJECTS_MAX", 10)
    limiter = RateLimiter()
    for number in range(100):
        limiter.consume("guess", str(number), count=1, seconds=60)
    assert len(limiter._windows) == 10


@pytest.fixture
def _fresh_limits() -> None:
    rate_limits.RATE_LIMITER.forget()


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


BACKOFF = Backoff(burst=3, interval_seconds=2, interval_seconds_max=10)


def test_a_hundred_tries_at_once_are_a_hundred() -> None:
    """None of them is known to have failed when the next one begins."""
    throttle = FailureThrottle()
    began = 0
    for _ in range(100):
        try:
            throttle.begin_attempt({"ada": BACKOFF})
        except RateLimited:
            continue
        began += 1
    assert began == 3


def test_what_has_to_wait_is_counted_nowhere() -> None:
    throttle = FailureThrottle()
    for _ in range(3):
        throttle.begin_attempt({"ada": BACKOFF})
    for _ in range(5):
        with pytest.raises(RateLimited):
            throttle.begin_attempt({"ada": BACKOFF, "network": BACKOFF})
    for _ in range(3):
        throttle.begin_attempt({"network": BACKOFF})


def test_the_longest_wait_is_told() -> None:
    throttle = FailureThrottle()
    for _ in range(3):
        throttle.begin_attempt(
            {"ada": BACKOFF, "network": Backoff(burst=3, interval_seconds=20, interval_seconds_max=60)}
        )
    with pytest.raises(RateLimited) as refused:
        throttle.begin_attempt(
            {"ada": BACKOFF, "network": Backoff(burst=3, interval_seconds=20, interval_seconds_max=60)}
        )
    assert refused.value.retry_after_seconds == 40


def test_one_try_is_forgiven_or_all() -> None:
    throttle = FailureThrottle()
    for _ in range(3):
        throttle.begin_attempt({"ada": BACKOFF, "bob": BACKOFF})
    throttle.refund("ada")
    throttle.reset("bob")
    throttle.reset("unknown")
    throttle.refund("unknown")
    throttle.begin_attempt({"ada": BACKOFF})
    with pytest.raises(RateLimited):
        throttle.begin_attempt({"ada": BACKOFF})
    for _ in range(3):
        throttle.begin_attempt({"bob": BACKOFF})


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:DB8:1:2::", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::/64"),
        ("", ""),
        ("None", "None"),
    ],
)
def test_a_client_has_all_of_its_ipv6_network(address: str, network: str) -> None:
    assert network_of(address) == network


@pytest.mark.django_db
@pytest.mark.usefixtures("_fresh_limits")
def test_guesses_are_counted_by_network_and_kind(client: Client, settings: Settings) -> None:
    settings.RATE_LIMITS = {"guess": Rate(2, 60)}
    url, bad = "/api/v1/capability_registry_list", {"Authorization": "Bearer wrong"}
    codes = [client.get(url, headers=bad, REMOTE_ADDR=f"2001:db8:1:1::{number}").status_code for number in range(4)]
    assert codes == [401, 401, 429, 429]
    assert client.get(url, headers=bad, REMOTE_ADDR="2001:db8:1:2::1").status_code == 401
    share = "/share/none/.well-known/agent-skills/index.json"
    assert client.get(share, REMOTE_ADDR="2001:db8:1:1::9").status_code == 404
