"""`capability_registry_list`: what exists, page by page, and what has changed since."""

from __future__ import annotations

import base64
import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from registry.catalog.drafts import save_draft
from registry.matching.skill_groups import set_group
from registry.publishing import publication
from registry.snapshot import STORE
from registry.snapshot.store import PAST_MAX
from tests.factories import OLGA, agent_key, bearer, bundle, publish

pytestmark = pytest.mark.django_db

LIST = "capability_registry_list"
FIELDS = {
    "capability_id",
    "name",
    "description",
    "intent_triggers",
    "digest",
    "status",
    "replaced_by",
    "skill_groups",
    "os",
    "dependency_level",
    "priority",
}


def _list(api: Any, **query: Any) -> Any:
    return api.ok(api.get(LIST, query), "registry_list")


def _ids(document: Any) -> list[str]:
    return [entry["capability_id"] for entry in document["capabilities"]]


def _pages(api: Any, **query: Any) -> list[list[str]]:
    pages: list[list[str]] = []
    cursor = None
    while cursor is not None or not pages:
        document = _list(api, **query, **({"cursor": cursor} if cursor else {}))
        pages.append(_ids(document))
        cursor = document["next_cursor"]
    return pages


def test_an_empty_registry(api: Any) -> None:
    assert _list(api) == {"capabilities": [], "registry_revision": 0, "next_cursor": None}


def test_an_entry_has_its_defaults_written_in(api: Any) -> None:
    outcome = publish()
    document = _list(api)
    (entry,) = document["capabilities"]
    assert set(document) == {"capabilities", "registry_revision", "next_cursor"}
    assert set(entry) == FIELDS
    assert entry == {
        "capability_id": "alpha",
        "name": "Alpha",
        "description": "Everything about Alpha.",
        "intent_triggers": ["alpha please"],
        "digest": outcome.digest,
        "status": "published",
        "replaced_by": None,
        "skill_groups": [],
        "os": ["common"],
        "dependency_level": "builtin",
        "priority": 0,
    }


def test_an_entry_has_what_its_author_wrote(api: Any) -> None:
    more: dict[str, Any] = {
        "skill_groups": ["health"],
        "os": ["darwin", "linux"],
        "dependency_level": {"darwin": "external"},
        "priority": 7,
        "language": "pt-BR",
        "dependencies": {"python": ["openpyxl"], "env": ["API_KEY"]},
    }
    publish(name="Größe 👋 “x”", **more)
    (entry,) = _list(api)["capabilities"]
    assert {key: entry[key] for key in more} == more
    assert entry["name"] == "Größe 👋 “x”"


def test_entries_are_in_order_of_their_ids(api: Any) -> None:
    for name in ("b", "a_1", "a", "a10", "0"):
        publish(name)
    assert _ids(_list(api)) == ["0", "a", "a10", "a_1", "b"] == sorted(_ids(_list(api)))


def test_only_what_can_be_loaded_is_listed(api: Any) -> None:
    for name in ("alpha", "beta", "gamma"):
        publish(name)
    save_draft(capability_id="delta", files=bundle("delta"), based_on=None, by=OLGA)
    publication.deprecate(capability_id="alpha", replaced_by="beta", by=OLGA)
    publication.retire(capability_id="gamma", by=OLGA)
    document = _list(api)
    assert _ids(document) == ["alpha", "beta"]
    assert [(entry["status"], entry["replaced_by"]) for entry in document["capabilities"]] == [
        ("deprecated", "beta"),
        ("published", None),
    ]
    assert document["registry_revision"] == 5


def test_minimal_answers_the_four_seed_fields_in_the_same_envelope(api: Any) -> None:
    publish()
    document = _list(api, fields="minimal")
    assert set(document) == {"capabilities", "registry_revision", "next_cursor"}
    assert [list(entry) for entry in document["capabilities"]] == [
        ["capability_id", "name", "description", "intent_triggers"]
    ]


# Filters


def test_filters(api: Any) -> None:
    publish("alpha", skill_groups=["health"], os=["darwin"])
    publish("beta", skill_groups=["health", "work"])
    publish("gamma", os=["linux", "win32"])
    assert _ids(_list(api, group="health")) == ["alpha", "beta"]
    assert _ids(_list(api, group="work")) == ["beta"]
    assert _ids(_list(api, group="nobody")) == []
    assert _ids(_list(api, group="heal")) == []
    assert _ids(_list(api, os="darwin")) == ["alpha", "beta"]
    assert _ids(_list(api, os="linux")) == ["beta", "gamma"]
    assert _ids(_list(api, os="common")) == ["beta"]
    assert _ids(_list(api, os="darwin", group="work")) == ["beta"]
    assert _ids(_list(api, os="", group="", fields="")) == ["alpha", "beta", "gamma"]
    assert _ids(_list(api, group="")) == ["alpha", "beta", "gamma"]


def test_changes_since_a_revision(api: Any) -> None:
    for name in ("alpha", "beta", "gamma"):
        publish(name)
    assert "removed" not in _list(api)
    document = _list(api, updated_since_revision=0)
    assert (_ids(document), document["removed"]) == (["alpha", "beta", "gamma"], [])
    document = _list(api, updated_since_revision=3)
    assert (_ids(document), document["removed"]) == ([], [])
    publish("beta", body="Two.")
    publication.retire(capability_id="gamma", by=OLGA)
    document = _list(api, updated_since_revision=3)
    assert (_ids(document), document["removed"], document["registry_revision"]) == (["beta"], ["gamma"], 5)
    document = _list(api, updated_since_revision=4)
    assert (_ids(document), document["removed"]) == ([], ["gamma"])
    publication.restore(capability_id="gamma", by=OLGA)
    document = _list(api, updated_since_revision=4)
    assert (_ids(document), document["removed"]) == (["gamma"], [])


def test_what_a_change_took_out_of_the_filter_is_removed(api: Any) -> None:
    publish(skill_groups=["health"])
    publish()
    document = _list(api, updated_since_revision=1, group="health")
    assert (_ids(document), document["removed"]) == ([], ["alpha"])


@pytest.mark.both_databases
@pytest.mark.parametrize(
    "query",
    [
        {"limit": "0"},
        {"limit": "1001"},
        {"limit": "-1"},
        {"limit": "ten"},
        {"limit": ""},
        {"limit": "1e3"},
        {"limit": "1.5"},
        {"limit": "٣"},
        {"limit": " 1"},
        {"os": "windows"},
        {"os": "Darwin"},
        {"fields": "all"},
        {"updated_since_revision": "-1"},
        {"updated_since_revision": "x"},
        {"updated_since_revision": "9" * 17},
        {"group": "x" * 201},
        {"group": "a\0b"},
        {"limit": ["1", "2"]},
        {"os": ["linux", "linux"]},
        {"cursor": "x"},
        {"cursor": "e30"},
        {"cursor": "W10"},
        {"cursor": "\0"},
        {"cursor": "é"},
    ],
    ids=str,
)
def test_an_odd_argument_is_refused(api: Any, query: dict[str, Any]) -> None:
    api.error(api.get(LIST, query), 400, "INVALID_REQUEST")


def test_an_unknown_argument_is_passed_over(api: Any) -> None:
    assert _list(api, utm_source="x")["capabilities"] == []


# Pages


@pytest.mark.parametrize(("limit", "sizes"), [(1, [1] * 5), (2, [2, 2, 1]), (5, [5]), (6, [5]), (1000, [5])])
def test_pages(api: Any, limit: int, sizes: list[int]) -> None:
    for name in "abcde":
        publish(name)
    pages = _pages(api, limit=limit)
    assert [len(page) for page in pages] == sizes
    assert "".join(name for page in pages for name in page) == "abcde"


def test_pages_of_a_filter(api: Any) -> None:
    for name in "abcdef":
        publish(name, skill_groups=["even"] if name in "bdf" else ["odd"])
    assert _pages(api, limit=2, group="even") == [["b", "d"], ["f"]]
    assert _pages(api, limit=3, group="even", fields="minimal") == [["b", "d", "f"]]


def test_a_cursor_reads_the_registry_as_it_was(api: Any) -> None:
    for name in ("a", "c", "e", "g"):
        publish(name)
    first = _list(api, limit=2)
    publish("b")
    publish("d")
    publish("e", body="Two.", name="Changed")
    publication.retire(capability_id="g", by=OLGA)
    second = _list(api, limit=2, cursor=first["next_cursor"])
    # What was retired since is not listed any more.
    assert (_ids(first), _ids(second)) == (["a", "c"], ["e"])
    assert second["registry_revision"] == first["registry_revision"] == 4
    assert second["capabilities"][0]["name"] == "E"
    assert second["next_cursor"] is None
    assert _ids(_list(api)) == ["a", "b", "c", "d", "e"]


def test_a_cursor_lives_in_another_process_and_after_many_publishes(api: Any) -> None:
    for name in ("a", "b", "c"):
        publish(name)
    first = _list(api, limit=1)
    for number in range(PAST_MAX + 2):
        publish("a", body=f"Again {number}.")
        _list(api)
    STORE.forget()
    assert _ids(_list(api, limit=9, cursor=first["next_cursor"])) == ["b", "c"]


def test_past_states_in_memory_are_bounded(api: Any) -> None:
    for number in range(PAST_MAX * 2):
        publish("a", body=f"Again {number}.")
        _list(api)
    assert len(STORE._past) == PAST_MAX


def test_answers_in_memory_are_bounded_and_the_newest_kept(api: Any) -> None:
    from agent_api.v1.registry_list import CACHED_RESPONSES_MAX

    publish()
    for number in range(CACHED_RESPONSES_MAX + 20):
        _list(api, group=f"group_{number}")
    assert len(STORE.snapshot.answers) == CACHED_RESPONSES_MAX


@pytest.mark.parametrize(
    "other", [{"group": "x"}, {"os": "linux"}, {"fields": "minimal"}, {"updated_since_revision": 1}]
)
def test_a_cursor_of_another_question_is_refused(api: Any, other: dict[str, Any]) -> None:
    publish("a")
    publish("b")
    cursor = _list(api, limit=1)["next_cursor"]
    api.error(api.get(LIST, {"limit": 1, "cursor": cursor, **other}), 400, "INVALID_REQUEST")
    assert _ids(_list(api, limit=5, cursor=cursor)) == ["b"]


@pytest.mark.parametrize("at", [0, 1, 2, 99, -1, 1.5, None, "1", 2**60, True])
def test_a_forged_cursor_is_refused(api: Any, at: Any) -> None:
    publish("a")
    publish("b")
    raw, _, signature = _list(api, limit=1)["next_cursor"].partition(".")
    _, after, fingerprint = json.loads(base64.urlsafe_b64decode(raw + "=" * (-len(raw) % 4)))
    forged = base64.urlsafe_b64encode(json.dumps([at, after, fingerprint]).encode()).decode().rstrip("=")
    for cursor in (forged, f"{forged}.", f"{forged}.{signature}", f"{raw}.{signature[:-1]}", f"{raw}.{signature}x"):
        error = api.error(api.get(LIST, {"limit": 1, "cursor": cursor}), 400, "INVALID_REQUEST")
        assert "begin again from the first page" in error["message"]


def test_a_cursor_of_another_registry_is_refused(api: Any, settings: Any) -> None:
    publish("a")
    publish("b")
    cursor = _list(api, limit=1)["next_cursor"]
    settings.SECRET_KEY = "another registry's"
    api.error(api.get(LIST, {"limit": 1, "cursor": cursor}), 400, "INVALID_REQUEST")


@pytest.mark.parametrize("is_another_process", [False, True])
def test_a_cursor_ends_an_hour_after_the_registry_moved_on(
    api: Any, monkeypatch: pytest.MonkeyPatch, is_another_process: bool
) -> None:
    publish("a")
    publish("b")
    cursor = _list(api, limit=1)["next_cursor"]
    now = timezone.now()

    def ask_after(**passed: int) -> Any:
        with monkeypatch.context() as patched:
            patched.setattr("agent_api.v1.registry_list.timezone.now", lambda: now + timedelta(**passed))
            return api.get(LIST, {"limit": 1, "cursor": cursor})

    # Nothing has moved: the first page, which a client may have kept, goes on where it did.
    assert _ids(ask_after(days=30).json()) == ["b"]

    publish("c")
    _list(api)
    for minutes, is_good in ((59, True), (61, False)):
        if is_another_process:
            STORE.forget()
        response = ask_after(minutes=minutes)
        if is_good:
            assert _ids(response.json()) == ["b"]
        else:
            error = api.error(response, 400, "INVALID_REQUEST")
            assert "expired" in error["message"]
            assert "begin again from the first page" in error["message"]


def test_a_first_page_is_the_same_in_every_process(api: Any) -> None:
    publish("a")
    publish("b")
    first = api.get(LIST, {"limit": 1})
    STORE.forget()
    again = api.get(LIST, {"limit": 1}, headers={"If-None-Match": first.headers["ETag"]})
    assert again.status_code == 304


# Who may


@pytest.mark.usefixtures("closed")
def test_without_public_read_a_key_is_needed(api: Any) -> None:
    error = api.get(LIST)
    api.error(error, 401, "UNAUTHENTICATED")
    assert error.headers["WWW-Authenticate"].startswith("Bearer")
    api.ok(api.get(LIST, headers=bearer("read")), "registry_list")
    api.error(api.get(LIST, headers=bearer("feedback")), 403, "FORBIDDEN")


@pytest.mark.parametrize("scheme", ["Bearer {}", "bearer {}", "BEARER  {} "])
def test_a_key_is_taken_in_any_spelling_of_the_scheme(api: Any, scheme: str) -> None:
    response = api.get(LIST, headers={"Authorization": scheme.format(agent_key())})
    assert response.headers["Cache-Control"] == "private, no-cache"


@pytest.mark.both_databases
@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", "Bearer x", "Basic eDp5", "Token {}", "{}", "Bearer {}x", "Bearer é", "Bearer \x00"],
)
def test_a_bad_key_is_refused_even_where_reads_are_public(api: Any, header: str) -> None:
    response = api.get(LIST, headers={"Authorization": header.replace("{}", agent_key())})
    api.error(response, 401, "UNAUTHENTICATED")


def test_exclusive_groups_are_told_to_those_who_see_a_member(api: Any) -> None:
    publish("rp_core", skill_groups=["coaching"])
    publish("weights", skill_groups=["health"])
    before = api.get(LIST)
    assert "exclusive_groups" not in before.json()

    set_group(group_id="coaching", is_exclusive=True, by=OLGA)
    set_group(group_id="orphan", is_exclusive=True, by=OLGA)
    after = api.get(LIST)
    assert api.ok(after, "registry_list")["exclusive_groups"] == ["coaching"]
    assert after["ETag"] != before["ETag"]

    assert "exclusive_groups" not in api.get(LIST, headers=bearer(groups=["health"])).json()
