"""An address by http or https, taken apart."""

import pytest

from capability_kit.http_address import HttpAddress


@pytest.mark.parametrize(
    ("text", "host", "port", "shown", "has_user"),
    [
        ("https://Git.Example/skills", "git.example", 443, "git.example", False),
        ("http://git.example", "git.example", 80, "git.example", False),
        ("https://git.example:443/", "git.example", 443, "git.example", False),
        ("https://git.example:8443/", "git.example", 8443, "git.example:8443", False),
        ("http://olga:x@[::1]:3000/a?b#c", "::1", 3000, "[::1]:3000", True),
    ],
)
def test_an_address_has_a_host_and_a_port(text: str, host: str, port: int, shown: str, has_user: bool) -> None:
    address = HttpAddress.parse(text)
    assert address is not None
    assert (address.host, address.port, address.host_and_port, address.has_user) == (host, port, shown, has_user)


@pytest.mark.parametrize(
    "text", ["", "git.example", "ftp://git.example", "https://", "https://[::1", "http://a:99999", "http://a:0", "//a"]
)
def test_what_cannot_be_called_is_not_an_address(text: str) -> None:
    assert HttpAddress.parse(text) is None


def test_an_address_of_this_machine_is_known_by_name_and_number() -> None:
    local = ("http://localhost:1", "http://127.0.0.9", "http://[::1]/", "http://app.localhost")
    elsewhere = ("http://10.0.0.1", "http://example.com", "http://localhost.example")
    assert [getattr(HttpAddress.parse(one), "is_loopback", None) for one in (*local, *elsewhere)] == [
        *[True] * len(local), *[False] * len(elsewhere),
    ]  # fmt: skip
