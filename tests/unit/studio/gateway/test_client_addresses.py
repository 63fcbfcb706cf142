"""How many connections one address may have open."""

from __future__ import annotations

from ipaddress import ip_network

from studio.gateway.client_addresses import ClientAddresses

TRUSTED = (ip_network("10.0.0.0/8"), ip_network("fd00::/8"))


def test_each_network_has_its_own() -> None:
    addresses = ClientAddresses((), 2)
    assert [addresses.admit("192.0.2.1") for _ in range(3)] == [True, True, False]
    assert addresses.admit("192.0.2.2")
    # One client chooses among the addresses of a /64.
    assert [addresses.admit(f"2001:db8::{number}") for number in range(3)] == [True, True, False]
    assert addresses.admit("2001:db8:0:1::1")
    # The same host over IPv4 and over a socket of both.
    assert not addresses.admit("::ffff:192.0.2.1")


def test_an_end_makes_room_and_leaves_nothing_behind() -> None:
    addresses = ClientAddresses((), 2)
    for _ in range(3):
        assert addresses.admit("192.0.2.1")
        assert addresses.admit("192.0.2.1")
        addresses.release("192.0.2.1")
        addresses.release("192.0.2.1")
    assert not addresses._open


def test_trusted_proxies_are_not_counted() -> None:
    addresses = ClientAddresses(TRUSTED, 1)
    for host in ("10.1.2.3", "::ffff:10.1.2.3", "fd00::1", "fd00::1%eth0"):
        assert addresses.is_trusted(host)
        assert all(addresses.admit(host) for _ in range(5))
    assert not addresses._open
    assert not addresses.is_trusted("192.0.2.1")


def test_none_is_no_limit() -> None:
    addresses = ClientAddresses((), 0)
    assert all(addresses.admit("192.0.2.1") for _ in range(100))
    assert not addresses._open
