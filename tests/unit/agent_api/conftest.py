"""Nothing that one test left in memory reaches the next; whatever is answered is held against the API description."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from django.test import Client

from tests import factories
from tests.shapes import assert_declared, assert_error, assert_shape

fresh_process = pytest.fixture(autouse=True)(factories.fresh_process)


class Api:
    """Calls as a client makes them: no CSRF token, no cookies."""

    def __init__(self) -> None:
        self._client = Client(enforce_csrf_checks=True)

    def call(self, method: str, name: str, **options: Any) -> Any:
        path = name if name.startswith("/") else f"/api/v1/{name}"
        response = self._client.generic(method, path, **options)
        assert_declared(path.partition("?")[0], method, response.status_code, response.headers.get("Content-Type", ""))
        return response

    def get(self, name: str, query: Mapping[str, Any] | None = None, **options: Any) -> Any:
        return self.call("GET", name, query_params=dict(query or {}), **options)

    def post(self, name: str, body: Any = None, *, content_type: str = "application/json", **options: Any) -> Any:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.call("POST", name, data=data, content_type=content_type, **options)

    def ok(self, response: Any, shape: str) -> Any:
        """The document of a 200, held against its schema."""
        assert response.status_code == 200, response.content[:2000]
        assert response.headers["Content-Type"] == "application/json"
        document = response.json()
        assert_shape(document, shape)
        return document

    def error(self, response: Any, status: int, code: str) -> dict[str, Any]:
        """What is inside of the envelope of a refusal."""
        assert response.status_code == status, (response.status_code, response.content[:2000])
        assert response.headers["Content-Type"] == "application/json"
        assert response.headers["Cache-Control"] == "no-store"
        return assert_error(response.json(), code)


@pytest.fixture
def api() -> Api:
    return Api()


@pytest.fixture
def closed(settings: Any) -> None:
    """A registry that answers nobody without a key."""
    settings.AGENT_API_PUBLIC_READ = False
