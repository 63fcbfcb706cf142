"""Whose forwarding headers count, and what is believed of them."""

from __future__ import annotations

from ipaddress import ip_network
from typing import Any

import pytest
from django.test import Client

from studio.middleware.proxies import apply_forwarding

TRUSTED = (ip_network("10.0.0.0/8"), ip_network("::1"))


def applied(peer: str = "10.0.0.1", **headers: str) -> dict[str, Any]:
    environ = {"REMOTE_ADDR": peer, "wsgi.url_scheme": "http", "HTTP_HOST": "inner:8000"}
    environ |= {f"HTTP_X_FORWARDED_{name}": value for name, value in headers.items()}
    apply_forwarding(environ, TRUSTED)
    return environ


def test_a_trusted_proxy_is_believed() -> None:
    found = applied(FOR="203.0.113.7", PROTO="https", HOST="studio.example.com")
    assert found["REMOTE_ADDR"] == "203.0.113.7"
    assert found["wsgi.url_scheme"] == "https"
    assert found["HTTP_HOST"] == "studio.example.com"


@pytest.mark.parametrize("peer", ["192.0.2.1", "", "unix:", "::2"])
def test_a_stranger_is_not(peer: str) -> None:
    found = applied(peer, FOR="203.0.113.7", PROTO="https", HOST="studio.example.com")
    assert (found["REMOTE_ADDR"], found["wsgi.url_scheme"], found["HTTP_HOST"]) == (peer, "http", "inner:8000")


@pytest.mark.parametrize("peer", ["10.0.0.1", "192.0.2.1"])
def test_no_header_is_left_for_others_to_believe(peer: str) -> None:
    found = applied(peer, FOR="203.0.113.7", PROTO="https", HOST="studio.example.com", PORT="443")
    assert not [name for name in found if "FORWARDED" in name]


@pytest.mark.parametrize(
    ("forwarded_for", "client"),
    [
        ("203.0.113.7, 10.0.0.2", "203.0.113.7"),
        ("6.6.6.6, 203.0.113.7", "203.0.113.7"),
        ("6.6.6.6, 203.0.113.7, 10.0.0.3, 10.0.0.2", "203.0.113.7"),
        ("10.0.0.9, 10.0.0.2", "10.0.0.9"),
        ("unknown, 10.0.0.2", "10.0.0.2"),
        ("6.6.6.6, nonsense", "10.0.0.1"),
        ("203.0.113.7:4711", "203.0.113.7"),
        ("[2001:db8::1]:4711", "2001:db8::1"),
        ("2001:db8::1", "2001:db8::1"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        (" , ", "10.0.0.1"),
    ],
)
def test_the_list_is_believed_from_its_right_end(forwarded_for: str, client: str) -> None:
    assert applied(FOR=forwarded_for)["REMOTE_ADDR"] == client


def test_ipv4_within_ipv6_is_ipv4() -> None:
    assert applied("::ffff:10.0.0.1", FOR="203.0.113.7")["REMOTE_ADDR"] == "203.0.113.7"


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("studio.example.com", "studio.example.com"),
        ("studio.example.com, inner", "studio.example.com"),
        ("evil.example, studio.example.com, inner", "studio.example.com"),
    ],
)
def test_what_the_outermost_trusted_proxy_saw(host: str, expected: str) -> None:
    assert applied(FOR="203.0.113.7, 10.0.0.2", HOST=host)["HTTP_HOST"] == expected


@pytest.mark.parametrize("proto", ["gopher", "", "https://"])
def test_an_odd_scheme_is_passed_over(proto: str) -> None:
    assert applied(PROTO=proto)["wsgi.url_scheme"] == "http"


def test_a_second_call_changes_nothing() -> None:
    found = applied(FOR="10.0.0.9")
    found["HTTP_X_FORWARDED_FOR"] = "6.6.6.6"
    apply_forwarding(found, TRUSTED)
    assert found["REMOTE_ADDR"] == "10.0.0.9"


@pytest.mark.parametrize("allowed", ["studio.example.com", ".example.com", "*"])
def test_probes_are_answered_under_any_name(client: Client, settings: Any, allowed: str) -> None:
    settings.ALLOWED_HOSTS = [allowed]
    assert client.get("/healthz", headers={"host": "10.9.8.7:8000"}).status_code == 200


def test_pages_are_not(client: Client, settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["studio.example.com"]
    assert client.get("/nowhere", headers={"host": "10.9.8.7"}).status_code == 400
