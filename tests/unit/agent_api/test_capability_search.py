"""`capability_search`: by meaning and by keyword (docs/contract.md 4, docs/requirements.md D)."""

from __future__ import annotations

from typing import Any

import pytest

from registry.matching.embedders import get_embedder
from studio.config.parsers import Rate
from tests.factories import bearer, publish

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

SEARCH = "capability_search"


def _search(api: Any, q: str, **more: Any) -> Any:
    return api.ok(api.get(SEARCH, {"q": q, **more}), "search")


def _ids(document: Any) -> list[str]:
    return [one["capability_id"] for one in document["results"]]


@pytest.fixture
def playbooks(settings: Any, request: Any) -> None:
    settings.EMBEDDER = getattr(request, "param", "none")
    get_embedder.cache_clear()
    publish("password_reset", name="Password reset", description="Customer cannot sign in", skill_groups=["account"])
    publish("plan_downgrade", name="Annual plan downgrade", description="Customer wants a cheaper plan and a refund")
    publish("export_data", name="Data export", description="Customer asks for a copy of all data", body="Mind refunds.")


both = pytest.mark.parametrize("playbooks", ["none", "minilm"], indirect=True)


@both
@pytest.mark.parametrize("ranking", ["hybrid", "coverage"])
def test_words_find_what_is_for_them(api: Any, playbooks: None, ranking: str) -> None:
    document = _search(api, "refund for a downgrade", ranking=ranking)
    assert _ids(document)[0] == "plan_downgrade"
    assert document["ranking"] == ranking
    assert document["results"][0]["parts"]["keyword"] == 1.0


@pytest.mark.parametrize(("playbooks", "ranking"), [("none", "hybrid"), ("minilm", "coverage")], indirect=["playbooks"])
def test_the_ranking_that_measured_better_is_taken_and_told(api: Any, playbooks: None, ranking: str) -> None:
    assert _search(api, "refund")["ranking"] == ranking


@pytest.mark.parametrize("playbooks", ["minilm"], indirect=True)
def test_meaning_finds_what_no_word_does(api: Any, playbooks: None) -> None:
    document = _search(api, "locked out of my login")
    assert _ids(document)[0] == "password_reset"
    first = document["results"][0]
    # No keyword is found anywhere: then the vector counts in full.
    assert first["score"] == pytest.approx(first["parts"]["vector"], abs=1e-4)


@pytest.mark.parametrize("playbooks", ["minilm"], indirect=True)
def test_the_score_is_seven_tenths_vector_and_three_tenths_keyword(api: Any, playbooks: None) -> None:
    for one in _search(api, "refund", top_k=50)["results"]:
        wanted = 0.7 * one["parts"]["vector"] + 0.3 * one["parts"]["keyword"]
        assert one["score"] == pytest.approx(wanted, abs=2e-4)


def test_a_single_hit_has_the_keyword_score_one(api: Any, playbooks: None) -> None:
    (found,) = _search(api, "cheaper")["results"]
    assert found["parts"] == {"vector": 0.0, "keyword": 1.0}


def test_the_skill_doc_is_searched_too(api: Any, playbooks: None) -> None:
    assert set(_ids(_search(api, "refund"))) == {"plan_downgrade", "export_data"}


def test_min_score_group_and_top_k(api: Any, playbooks: None) -> None:
    assert _ids(_search(api, "customer", group="account")) == ["password_reset"]
    assert len(_ids(_search(api, "customer", top_k=2))) == 2
    assert all(one["score"] >= 0.9 for one in _search(api, "refund downgrade", min_score=0.9)["results"])


@pytest.mark.parametrize("written", ["0", "1", "1.0", ".5", "0.009144914001714357", "1e-05", "0.5E0"])
def test_min_score_is_any_number_from_0_to_1(api: Any, playbooks: None, written: str) -> None:
    _search(api, "refund", min_score=written)


def test_coverage_is_the_share_of_the_query(api: Any, playbooks: None) -> None:
    document = _search(api, "refund unheardof", ranking="coverage")
    assert document["ranking"] == "coverage"
    assert 0 < document["results"][0]["parts"]["keyword"] < 1


def test_nothing_is_found(api: Any, playbooks: None) -> None:
    assert _search(api, "zzz")["results"] == []


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"q": ""},
        {"q": " "},
        {"q": "x" * 2001},
        {"q": "x", "top_k": "51"},
        {"q": "x", "top_k": "0"},
        {"q": "x", "min_score": "1.1"},
        {"q": "x", "min_score": "-1"},
        {"q": "x", "min_score": "nan"},
        {"q": "x", "min_score": "."},
        {"q": "x", "min_score": "1e9"},
        {"q": "x", "min_score": "1" * 50},
        {"q": "x", "ranking": "best"},
    ],
)
def test_odd_arguments_are_refused(api: Any, query: dict[str, str]) -> None:
    api.error(api.get(SEARCH, query), 400, "INVALID_REQUEST")


def test_who_may_not(api: Any, closed: None) -> None:
    api.error(api.get(SEARCH, {"q": "x"}), 401, "UNAUTHENTICATED")


def test_searches_and_messages_have_one_limit_per_key(api: Any, settings: Any) -> None:
    settings.RATE_LIMITS = {"match": Rate(count=2, seconds=60)}
    key = bearer("read")
    api.ok(api.get(SEARCH, {"q": "refund"}, headers=key), "search")
    api.ok(api.post("capability_match", {"message": "refund"}, headers=key), "match")
    refused = api.get(SEARCH, {"q": "refund"}, headers=key)
    api.error(refused, 429, "RATE_LIMITED")
    assert int(refused.headers["Retry-After"]) >= 1
    api.ok(api.get(SEARCH, {"q": "refund"}, headers=bearer("read")), "search")
