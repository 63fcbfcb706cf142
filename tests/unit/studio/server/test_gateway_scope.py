"""Behind the gateway a request is its client's, and only the gateway can say whose."""

from __future__ import annotations

import pytest

from studio.server.environ import build_environ
from studio.server.gateway_scope import open_scope
from tests.rsgi import MadeHeaders, MadeScope

SECRET = "0123456789abcdef"


def _scope(*pairs: tuple[str, str]) -> MadeScope:
    headers = MadeHeaders([("host", "a"), *pairs, ("accept", "*/*")])
    return MadeScope(headers=headers, client="", server="/tmp/socket")


def test_the_client_is_the_one_that_the_gateway_names() -> None:
    opened, counts = open_scope(_scope(("x-gateway-client", f"{SECRET} 192.0.2.1:4711 [::1]:8000")), SECRET)
    assert opened is not None
    assert counts == []
    assert opened.headers.items() == [("host", "a"), ("accept", "*/*")]
    assert opened.headers.keys() == ["host", "accept"]
    environ = build_environ(opened)
    assert (environ["REMOTE_ADDR"], environ["SERVER_NAME"], environ["SERVER_PORT"]) == ("192.0.2.1", "::1", "8000")
    assert not [name for name in environ if "GATEWAY" in name]


def test_the_counts_of_a_scrape() -> None:
    pairs = [("x-gateway-client", f"{SECRET} 192.0.2.1:1 a:2"), ("x-gateway-counts", "1,2,30")]
    assert open_scope(_scope(*pairs), SECRET)[1] == [1, 2, 30]


@pytest.mark.parametrize("said", ["", "x 192.0.2.1:1 a:2", f"{SECRET}x 192.0.2.1:1 a:2", " 192.0.2.1:1 a:2"])
def test_a_request_of_anyone_else_is_refused(said: str) -> None:
    assert open_scope(_scope(("x-gateway-client", said)), SECRET)[0] is None
    assert open_scope(_scope(), SECRET)[0] is None
