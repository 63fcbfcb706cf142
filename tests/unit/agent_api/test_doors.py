"""Who may come in where, by which method; and that every refusal wears the same envelope."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from registry.access.agent_keys import SCOPES
from studio.config.parsers import Rate
from tests.factories import agent_key, bearer, publish
from tests.sweeps import check_each, rolled_back

pytestmark = pytest.mark.django_db

OPEN_TO_ALL = {"/api/v1/schema", "/api/v1/docs"}
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND")


def _paths(found: Any = None, prefix: str = "/") -> list[str]:
    """Every address below `/api/v1/`, whoever adds one."""
    paths: list[str] = []
    for pattern in found if found is not None else get_resolver("agent_api.urls").url_patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            paths += _paths(pattern.url_patterns, route)
        elif isinstance(pattern, URLPattern) and route.startswith("/api/v1/"):
            paths.append(route)
    return paths


def _methods(path: str) -> set[str]:
    from agent_api.openapi.document import build_document

    if path in OPEN_TO_ALL:
        return {"GET", "HEAD"}
    found = {method.upper() for method in build_document()["paths"][path]}
    return found | ({"HEAD"} if "GET" in found else set())


def test_there_are_addresses() -> None:
    assert len(_paths()) > 15


@pytest.mark.usefixtures("closed")
def test_a_stranger_is_refused_everywhere_but_at_the_description(api: Any) -> None:
    def check(path: str) -> None:
        for method in _methods(path):
            response = api.call(method, path, data=b"{}" if method == "POST" else b"", content_type="application/json")
            if path in OPEN_TO_ALL:
                assert response.status_code == 200
            else:
                assert response.status_code == 401
                assert response.headers["WWW-Authenticate"].startswith("Bearer")
                if method != "HEAD":
                    api.error(response, 401, "UNAUTHENTICATED")

    check_each(_paths(), check, isolate=rolled_back)


def test_an_operators_path_needs_the_scope_publish_whatever_is_public(api: Any) -> None:
    publish()

    def check(path: str) -> None:
        (method,) = _methods(path) - {"HEAD"}
        options = {"data": b"{}" if method == "POST" else b"", "content_type": "application/json"}
        api.error(api.call(method, path, **options), 401, "UNAUTHENTICATED")
        others = [scope for scope in SCOPES if scope != "publish"]
        response = api.call(method, path, headers=bearer(*others), **options)
        assert "publish" in api.error(response, 403, "FORBIDDEN")["message"]
        assert api.call(method, path, headers=bearer("publish"), **options).status_code in (200, 400)

    check_each([path for path in _paths() if "/operator/" in path], check, isolate=rolled_back)


def test_a_method_that_a_path_lacks_is_told_in_the_envelope(api: Any) -> None:
    def check(cell: tuple[str, str]) -> None:
        path, method = cell
        response = api.call(method, path, data=b"{}", content_type="application/json")
        if method == "HEAD":
            assert (response.status_code, response.content) == (405, b"")
        else:
            api.error(response, 405, "METHOD_NOT_ALLOWED")
        assert {word.strip() for word in response.headers["Allow"].split(",")} == _methods(path)

    lacking = [(path, method) for path in _paths() for method in METHODS if method not in _methods(path)]
    check_each(lacking, check, isolate=rolled_back)


UNKNOWN = [
    "/api",
    "/api/",
    "/api/v1",
    "/api/v1/",
    "/api/v2/schema",
    "/api/v1/nobody",
    "/api/v1/schema/",
    "/api/v1/operator",
    "/api/v1/operator/x",
    "/api/v1/capability_registry_list/",
    "/api/v1//schema",
    "/api/v1/../schema",
    "/api/v1/%00",
    "/api/v1/%ff",
    "/api/v1/a%0d%0aSet-Cookie:x",
    "/api/v1/" + "x" * 5000,
]


def test_an_unknown_address_is_told_in_the_envelope(api: Any) -> None:
    def check(cell: tuple[str, str]) -> None:
        path, method = cell
        api.error(api.call(method, path, data=b"{}", content_type="application/json"), 404, "NOT_FOUND")

    cells = list(product(UNKNOWN, ("GET", "POST", "PUT", "DELETE", "OPTIONS")))
    check_each(cells, check, name=lambda cell: f"{cell[1]} {cell[0][:40]}", isolate=rolled_back)


def test_a_failure_of_ours_tells_nothing_of_its_cause(api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from agent_api.v1 import views

    def fail(*args: Any) -> None:
        raise RuntimeError("the secret is 12345")

    monkeypatch.setattr(views, "list_response", fail)
    response = api.get("capability_registry_list")
    assert "12345" not in str(api.error(response, 500, "INTERNAL_ERROR"))


def test_guessing_keys_is_stopped_and_a_good_key_still_opens(api: Any, settings: Any) -> None:
    key = agent_key("read")
    settings.RATE_LIMITS = {"guess": Rate(count=3, seconds=60)}
    bad = {"Authorization": "Bearer csk_guess"}
    for _ in range(3):
        api.error(api.get("capability_registry_list", headers=bad), 401, "UNAUTHENTICATED")
    response = api.get("capability_registry_list", headers=bad)
    api.error(response, 429, "RATE_LIMITED")
    assert int(response.headers["Retry-After"]) >= 1
    good = api.get("capability_registry_list", headers={"Authorization": f"Bearer {key}"})
    assert good.status_code == 200
