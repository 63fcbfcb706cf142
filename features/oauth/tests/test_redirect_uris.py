"""Where a browser may be sent: fifty addresses that look like a client's own, and those that are."""

from __future__ import annotations

from typing import Final

import pytest

from features.oauth.redirect_uris import add_parameters, get_origin, is_named, is_redirect_uri
from tests.sweeps import check_each

NAMED: Final = (
    "https://assistant.example/callback",
    "https://assistant.example/callback?kind=a",
    "http://127.0.0.1/callback",
    "http://localhost:3118/callback",
    "cursor://anysphere.cursor-retrieval/oauth/callback",
    "com.example.app:/callback",
)
HOSTILE: Final = (
    "",
    "/callback",
    "//assistant.example/callback",
    "https:/assistant.example/callback",
    "https:///assistant.example/callback",
    "https://assistant.example",
    "https://assistant.example/",
    "https://assistant.example/callback/",
    "https://assistant.example/callback/more",
    "https://assistant.example/callback?",
    "https://assistant.example/callback?next=https://evil.example",
    "https://assistant.example/callback?kind=a&kind=b",
    "https://assistant.example/callback?kind=b",
    "https://assistant.example/callback#fragment",
    "https://assistant.example/callback#",
    "https://assistant.example/Callback",
    "https://assistant.example/callback%2f",
    "https://assistant.example/./callback",
    "https://assistant.example/x/../callback",
    "https://assistant.example/%63allback",
    "https://assistant.example//callback",
    "https://assistant.example:443/callback",
    "https://assistant.example:8443/callback",
    "https://ASSISTANT.example/callback",
    "https://assistant.example./callback",
    "https://assistant.example.evil.example/callback",
    "https://evil.example/assistant.example/callback",
    "https://evil.example?https://assistant.example/callback",
    "https://evil.example#https://assistant.example/callback",
    "https://evil.example\\@assistant.example/callback",
    "https://evil.example\\.assistant.example/callback",
    "https://assistant.example@evil.example/callback",
    "https://evil.example:@assistant.example/callback",
    "https://user:pass@assistant.example/callback",
    "https://assistant.example\t/callback",
    "https://assistant.example/callback\r\nLocation: https://evil.example",
    " https://assistant.example/callback",
    "https://assistant.example/callback\n",
    "https://assistant.example/callback\x00",
    "https://\u0430ssistant.example/callback",
    "https://assistant\u3002example/callback",
    "https://*.example/callback",
    "http://assistant.example/callback",
    "HTTPS://assistant.example/callback",
    "javascript:alert(1)//https://assistant.example/callback",
    "data:text/html,https://assistant.example/callback",
    "file:///etc/passwd",
    "http://127.0.0.1/other",
    "http://127.0.0.1:80@evil.example/callback",
    "http://127.0.0.1:8000\\@evil.example/callback",
    "http://127.0.0.1.evil.example/callback",
    "http://127.0.0.2/callback",
    "http://127.1/callback",
    "http://2130706433/callback",
    "http://0.0.0.0/callback",
    "http://[::ffff:127.0.0.1]/callback",
    "http://localhost/callback?x=1",
    "http://localhost.evil.example:3118/callback",
    "http://127.0.0.1:0/callback",
    "http://127.0.0.1:999999/callback",
    "http://[::1]:3118/callback",
    "cursor://evil/oauth/callback",
    "cursor:javascript:alert(1)",
    "evil:/callback",
    "com.example.app:/other",
    "com.example.app.evil:/callback",
)


def test_an_address_that_is_not_the_clients_own_is_refused() -> None:
    assert len(set(HOSTILE)) >= 50

    def check(uri: str) -> None:
        assert not is_named(uri, NAMED)

    check_each(HOSTILE, check, name=repr)


@pytest.mark.parametrize(
    "uri",
    [*NAMED, "http://127.0.0.1:51234/callback", "http://localhost:1/callback", "http://localhost/callback"],
)
def test_its_own_is_taken_and_of_loopback_any_port(uri: str) -> None:
    assert is_named(uri, NAMED)


def test_the_loopback_names_are_not_each_others() -> None:
    assert not is_named("http://localhost:9/callback", ["http://127.0.0.1/callback"])
    assert not is_named("http://127.0.0.1:9/callback", ["http://[::1]/callback"])
    assert is_named("http://[::1]:9/callback", ["http://[::1]/callback"])


@pytest.mark.parametrize(
    "uri",
    ["javascript:alert(1)", "data:text/html,x", "vbscript:x", "http://assistant.example/", "https://a.example/#x",
     "about:/x",
     "https://a.example;script-src/", "https://a b/", "blob:/x", "x" * 1001, "https://a.example/" + "x" * 1000],
)  # fmt: skip
def test_a_client_may_not_name_it(uri: str) -> None:
    assert not is_redirect_uri(uri)


def test_what_is_added_and_what_a_policy_is_given() -> None:
    assert add_parameters("https://a.example/?x=1", {"code": "a&b"}) == "https://a.example/?x=1&code=a%26b"
    assert add_parameters("https://a.example/", {"code": "c"}) == "https://a.example/?code=c"
    assert get_origin("https://a.example:8443/x?y") == "https://a.example:8443"
    assert get_origin("http://[::1]:9/x") == "http://[::1]:9"
    assert get_origin("cursor://x/y") == "cursor:"
