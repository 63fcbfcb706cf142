"""`skills find`: what the visitor may see, best first, with the address that `skills add` takes."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from features.sharing import share_links
from studio.config.parsers import Rate
from tests.factories import OLGA, bearer, publish, tool, unlisted

pytestmark = pytest.mark.django_db
PATH = "/api/search"


@pytest.fixture(autouse=True)
def public(settings: Any) -> None:
    settings.AGENT_API_PUBLIC_READ = True


def _get(path: str = PATH, headers: dict[str, str] | None = None, **query: str) -> Any:
    return Client().get(path, query, headers=headers or {})


def _names(response: Any) -> list[str]:
    assert response.status_code == 200, response.content
    return [row["name"] for row in response.json()["skills"]]


def test_what_fits_is_found_with_where_it_is_installed_from() -> None:
    publish("tea_timer", description="Times tea. Use when somebody brews tea.")
    publish("weights")
    (first, *_) = _get(q="tea").json()["skills"]
    assert first == {
        "id": "testserver/tea-timer", "name": "tea-timer", "source": "http://testserver", "installs": 0,
    }  # fmt: skip


def test_the_public_address_counts(settings: Any) -> None:
    settings.PUBLIC_URL = "https://skills.example"
    publish("weights")
    assert _get(q="weights").json()["skills"][0]["source"] == "https://skills.example"


def test_limit_and_owner_narrow_it() -> None:
    publish("tea_one", skill_groups=["tea_house"])
    publish("tea_two")
    assert sorted(_names(_get(q="tea", limit="20"))) == ["tea-one", "tea-two"]
    assert len(_names(_get(q="tea", limit="1"))) == 1
    assert _names(_get(q="tea", owner="tea-house")) == ["tea-one"]
    assert _names(_get(q="tea", owner="nobody")) == []


def test_below_a_share_link_only_its_group_is_found(settings: Any) -> None:
    settings.AGENT_API_PUBLIC_READ = False
    publish("tea_one", skill_groups=["tea_house"])
    publish("tea_two")
    link = share_links.create_link(name="partner", by=OLGA, skill_group="tea_house")[1]
    path = link.removeprefix("http://127.0.0.1:8000")
    (row,) = _get(f"{path}{PATH}", q="tea").json()["skills"]
    assert (row["name"], row["source"]) == ("tea-one", f"http://testserver{path}")
    assert _get(f"/share/{'x' * 43}{PATH}", q="tea").status_code == 404


def test_a_stranger_needs_a_key_where_reads_need_one(settings: Any) -> None:
    settings.AGENT_API_PUBLIC_READ = False
    publish("weights")
    assert _get(q="weights").status_code == 401
    assert _get(q="weights", headers=bearer("publish")).status_code == 403
    assert _names(_get(q="weights", headers=bearer("read"))) == ["weights"]


def test_what_a_key_may_not_take_is_not_found() -> None:
    unlisted("tea_secret")
    publish("tea_write", [tool("tea_save", "write")])
    publish("tea_open")
    assert sorted(_names(_get(q="tea"))) == ["tea-open", "tea-write"]
    assert _names(_get(q="tea", headers=bearer("read", read_only_tools=True))) == ["tea-open"]


@pytest.mark.parametrize(
    "query", [{}, {"q": " "}, {"q": "x" * 3000}, {"q": "x", "limit": "0"}, {"q": "x", "limit": "a"}]
)
def test_odd_questions_are_refused(query: dict[str, str]) -> None:
    response = _get(PATH, None, **query)
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "INVALID_REQUEST"


def test_it_is_limited_as_search_is(settings: Any) -> None:
    settings.RATE_LIMITS = {"match": Rate(1, 60)}
    publish("weights")
    assert _get(q="weights").status_code == 200
    assert _get(q="weights").status_code == 429
