"""`GET /mirror/golden`: golden sentences for a registry that follows this one."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from registry.catalog import drafts
from registry.publishing import publication
from registry.snapshot import golden_utterances
from tests.factories import OLGA, bearer, bundle, publish

pytestmark = pytest.mark.django_db
ADDRESS = "/mirror/golden"
SAID = {"should_match": ["How heavy is the cat?"], "should_not_match": []}


def _get(headers: dict[str, str], query: str = "") -> Any:
    return Client().get(f"{ADDRESS}{query}", headers=headers)


def test_they_are_given_by_capability_as_they_are_published() -> None:
    publish("alpha", utterances=SAID)
    publish("beta")
    publish("gamma", utterances={"should_not_match": ["x"]})
    drafts.save_draft(capability_id="alpha", files=bundle(utterances={}), based_on=None, by=OLGA)
    answer = _get(bearer("read"))
    assert (answer.status_code, answer["Cache-Control"]) == (200, "private, no-store")
    found = answer.json()
    assert found["golden"] == {"alpha": SAID, "gamma": {"should_not_match": ["x"]}}
    assert (found["registry_revision"], found["next_after"]) == (3, None)


def test_nobody_is_given_them_without_a_key_even_where_reads_are_public(settings: Any) -> None:
    settings.AGENT_API_PUBLIC_READ = True
    publish("alpha", utterances=SAID)
    for headers in ({}, {"Authorization": "Bearer csk_wrong"}):
        answer = _get(headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "UNAUTHENTICATED")
    assert _get(bearer("feedback")).status_code == 403


def test_a_key_of_some_groups_gets_theirs_and_one_that_previews_what_is_published() -> None:
    publish("alpha", utterances=SAID, skill_groups=["cats"])
    publish("beta", utterances=SAID)
    retired = publish("gamma", utterances=SAID)
    publication.retire(capability_id=retired.capability_id, by=OLGA)
    assert list(_get(bearer("read", groups=["cats"])).json()["golden"]) == ["alpha"]
    drafts.save_draft(
        capability_id="beta", files=bundle("beta", utterances={"should_match": ["New"]}), based_on=None, by=OLGA
    )
    assert _get(bearer("read", preview=True)).json()["golden"] == {"alpha": SAID, "beta": SAID}


def test_a_long_list_comes_in_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(golden_utterances, "PAGE_BYTES", 1)
    for name in ("a", "b", "c"):
        publish(name, utterances=SAID)
    headers = bearer("read")
    pages = [_get(headers, f"?after={after}").json() for after in ("", "a", "b", "c")]
    assert [page["golden"] for page in pages] == [{"a": SAID}, {"b": SAID}, {"c": SAID}, {}]
    assert [page["next_after"] for page in pages] == ["a", "b", None, None]


def test_odd_input_is_refused() -> None:
    assert _get(bearer("read"), "?after=" + "x" * 65).status_code == 400
    assert Client().post(ADDRESS).status_code == 405
