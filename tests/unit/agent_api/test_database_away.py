"""The database is away: what is held goes on being served and says that it is stale, everything else is a 503."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import Client

from registry.usage import usage_counters
from tests.factories import bearer, publish

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

LOAD, LIST = "capability_skill_load", "capability_registry_list"


def _fail(*args: Any, **kwargs: Any) -> Any:
    raise OperationalError("connection refused")


@pytest.fixture
def away() -> Iterator[Callable[[], Any]]:
    """Begins the outage when it is called."""
    wrapper = connection.execute_wrapper(_fail)
    begun: list[Any] = []

    def begin() -> None:
        wrapper.__enter__()
        begun.append(wrapper)

    yield begin
    for each in begun:
        each.__exit__(None, None, None)


def _refused(api: Any, response: Any) -> None:
    api.error(response, 503, "REGISTRY_UNAVAILABLE")
    assert int(response.headers["Retry-After"]) > 0


def test_a_new_process_has_nothing_to_serve(api: Any, away: Any) -> None:
    publish()
    away()
    _refused(api, api.get(LIST))
    _refused(api, api.get(LOAD, {"capability_id": "alpha"}))
    _refused(api, api.post("capability_skill_reload", {"capability_id": "alpha"}))


def test_what_is_held_is_served_and_marked(api: Any, away: Any) -> None:
    publish()
    publish(body="Two.")
    key = bearer("read")
    for query in ({}, {"revision": 1}):
        api.get(LOAD, {"capability_id": "alpha", **query}, headers=key)
    before = api.get(LIST).content
    away()
    answers = [
        api.get(LIST),
        api.get(LIST, {"fields": "minimal"}),
        api.get(LOAD, {"capability_id": "alpha"}, headers=key),
        api.get(LOAD, {"capability_id": "alpha", "revision": 1}),
        api.post(LOAD, {"capability_id": "alpha"}),
        api.post("capability_skill_reload", {"capability_id": "alpha"}),
        api.get(LOAD, {"capability_id": "alpha"}),
        api.get(LIST, headers={"If-None-Match": "*"}),
    ]
    assert [response.status_code for response in answers] == [200] * 7 + [304]
    assert all(response.headers["Warning"].startswith("110 ") for response in answers)
    assert answers[0].content == before


def test_what_is_not_held_is_a_503(api: Any, away: Any) -> None:
    publish()
    publish("beta")
    api.get(LOAD, {"capability_id": "alpha"})
    away()
    _refused(api, api.get(LOAD, {"capability_id": "beta"}))
    _refused(api, api.get(LOAD, {"capability_id": "alpha", "revision": 7}))


def test_an_unknown_id_may_have_been_published_a_moment_ago(api: Any, away: Any) -> None:
    publish()
    api.get(LIST)
    misses = usage_counters.TOTALS.misses
    away()
    _refused(api, api.get(LOAD, {"capability_id": "nobody"}))
    _refused(api, api.post("prompt_render", {"capability_ids": ["nobody"]}))
    for door in ("/.well-known/agent-skills/nobody/1/SKILL.md", "/clawhub/api/v1/skills/nobody"):
        assert Client().get(door).status_code == 503
    assert usage_counters.TOTALS.misses == misses


def test_a_known_key_still_opens_and_a_bad_one_does_not(api: Any, away: Any, settings: Any) -> None:
    settings.AGENT_API_PUBLIC_READ = False
    publish()
    key = bearer("read")
    api.get(LIST, headers=key)
    away()
    assert api.get(LIST, headers=key).status_code == 200
    api.error(api.get(LIST, headers={"Authorization": "Bearer x"}), 401, "UNAUTHENTICATED")


def test_writes_are_a_503(api: Any, away: Any) -> None:
    key = bearer("publish")
    api.get("operator/bundle_list", headers=key)
    away()
    _refused(api, api.get("operator/bundle_list", headers=key))
    _refused(api, api.post("operator/capability_retire", {"capability_id": "alpha"}, headers=key))
    body = {"bundles": [{"path": "x", "files": {}}]}
    _refused(api, api.post("operator/bundle_publish", body, headers=key))


def test_it_recovers_by_itself(api: Any) -> None:
    publish()
    api.get(LIST)
    with connection.execute_wrapper(_fail):
        assert "Warning" in api.get(LIST).headers
        usage_counters.flush()
    assert "Warning" not in api.get(LIST).headers
