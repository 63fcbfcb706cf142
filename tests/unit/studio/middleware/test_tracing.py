"""The span of a request is named by its route, and has no path that could hold a token."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.conf import settings as django_settings
from django.test import Client
from opentelemetry.sdk.trace import ReadableSpan
from pytest_django import Settings

from capability_kit import tracing
from tests.unit.registry.common.test_tracing import PARENT, Sent

pytestmark = pytest.mark.django_db


@pytest.fixture
def sent(settings: Settings) -> Iterator[Sent]:
    settings.MIDDLEWARE = [*django_settings.MIDDLEWARE]
    settings.MIDDLEWARE.insert(2, "studio.middleware.tracing.TracingMiddleware")
    yield Sent()
    tracing.install(None)


def _span(sent: Sent, path: str) -> ReadableSpan:
    answer = Client().get(path, headers=PARENT)
    (span,) = sent.spans().values()
    assert answer["traceresponse"].startswith("00-4bf92f3577b34da6a3ce929d0e0e4736-")
    assert span.attributes is not None
    assert span.attributes["http.response.status_code"] == answer.status_code
    return span


@pytest.mark.parametrize(
    ("path", "name", "has_path"),
    [
        ("/api/v1/capability_registry_list?secret=hush-hush", "GET /api/v1/capability_registry_list", True),
        ("/sign-in/", "GET /sign-in/", True),
        ("/welcome/1/hush-hush/", "GET /welcome/<int:number>/<str:token>/", False),
        (f"/share/{'hush-hush' * 4}/mcp", "GET /share/<token>/mcp", False),
        ("/api/v1/hush-hush", "GET", False),
        ("/hush-hush", "GET", False),
    ],
)
def test_it_is_named_by_the_route_and_never_by_what_may_be_a_secret(
    sent: Sent, path: str, name: str, has_path: bool
) -> None:
    span = _span(sent, path)
    assert span.name == name
    assert span.attributes is not None
    assert ("url.path" in span.attributes) is has_path
    assert "hush-hush" not in span.to_json()


def test_files_and_probes_have_none(sent: Sent) -> None:
    for path in ("/healthz", "/readyz", "/static/studio.css", "/metrics"):
        assert "traceresponse" not in Client().get(path)
    assert sent.spans() == {}


def test_the_product_has_it_only_where_traces_are_sent() -> None:
    assert django_settings.IS_TRACED is False
    assert not any("tracing" in name for name in django_settings.MIDDLEWARE)
