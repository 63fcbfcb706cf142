"""Browsers may fetch pages ahead, and nothing that is downloaded or changed by a GET."""

from __future__ import annotations

import json
from fnmatch import fnmatch
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from studio.middleware.prefetch import HEADER, RULES
from tests.unit.studio.conftest import SignIn

pytestmark = pytest.mark.django_db


def test_pages_of_members_name_the_rules(client: Client, signed_in: SignIn) -> None:
    assert HEADER not in client.get("/sign-in/").headers
    member = signed_in("viewer")
    assert RULES.rpartition("/")[2].partition(".")[0] in member.get("/").headers[HEADER]
    assert HEADER not in member.get("/nowhere/").headers
    assert HEADER not in client.get("/api/v1/capability_registry_list").headers


def test_files_to_download_are_left_out() -> None:
    path = finders.find(RULES)
    assert isinstance(path, str)
    where = json.loads(Path(path).read_text("utf-8"))["prefetch"][0]["where"]["and"]
    left_out = [rule["not"]["href_matches"] for rule in where if "href_matches" in rule.get("not", {})]
    pages = [f"/{route}" for route in _routes(get_resolver("studio.pages.urls"))]
    downloads = [address for address in pages if "download" in address or "export" in address]
    assert len(downloads) >= 4
    for address in downloads:
        assert any(fnmatch(address, pattern) for pattern in left_out), address


def _routes(resolver: URLResolver, before: str = "") -> list[str]:
    found: list[str] = []
    for one in resolver.url_patterns:
        route = before + str(one.pattern)
        found += [route] if isinstance(one, URLPattern) else _routes(one, route)
    return found
