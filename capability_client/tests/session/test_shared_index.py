"""One index of the list for all sessions of a process: a later session asks what changed, and shares the rest."""

from __future__ import annotations

import gc

import pytest

from capability_client import (
    Bundle,
    CapabilityNotFound,
    Listing,
    ListingEntry,
    RegistryUnreachable,
    Session,
    User,
)
from capability_client.session import catalog
from capability_client.session.invocations import SHARED_INDEXES, SkillIndex
from capability_client.testing import FakeRegistry, build_bundle
from capability_client.tests.test_session import ALL


class Changing:
    """A source that says what changed since a revision, and counts what it sends."""

    def __init__(self) -> None:
        self.entries = {f"skill_{n}": _entry(f"skill_{n}") for n in range(50)}
        self.revision = 1
        self.changed: dict[str, int] = {}
        self.sent: list[int] = []
        self.is_away = False

    def publish(self, name: str) -> None:
        self.revision += 1
        self.entries[name] = _entry(name)
        self.changed[name] = self.revision

    def list(self, *, updated_since_revision: int | None = None) -> Listing:
        if self.is_away:
            raise RegistryUnreachable("away")
        found = [
            entry
            for name, entry in self.entries.items()
            if updated_since_revision is None or self.changed.get(name, 0) > updated_since_revision
        ]
        self.sent.append(len(found))
        return Listing(tuple(found), self.revision)

    def load(self, capability_id: str, *, digest: str | None = None) -> Bundle:
        raise CapabilityNotFound(capability_id)

    def reload(self, capability_id: str) -> Bundle:
        raise CapabilityNotFound(capability_id)


def _entry(name: str) -> ListingEntry:
    return ListingEntry(name, name.title(), f"{name}.", (f"do {name}",))


def _session(source: Changing | FakeRegistry) -> Session:
    return Session(source, user=User(name="Ada"), environment=ALL)


def test_a_later_session_is_sent_what_changed_and_shares_entries_and_indexes() -> None:
    source = Changing()
    first, second = _session(source), _session(source)
    assert first.entries is second.entries
    assert first.index.triggers is second.index.triggers
    assert first.index.names is second.index.names
    assert source.sent == [50, 0]


def test_what_was_published_since_is_there_for_the_next_session_and_not_noted_as_new() -> None:
    source = Changing()
    before = _session(source).entries
    source.publish("skill_new")
    session = _session(source)
    assert set(session.entries) == {*before, "skill_new"}
    assert source.sent == [50, 1]
    assert not session.events
    assert _session(source).entries is session.entries


def test_the_whole_list_is_read_again_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Changing()
    first = _session(source).entries
    monkeypatch.setattr(catalog, "WHOLE_LIST_SECONDS", 0.0)
    assert _session(source).entries is first, "nothing has changed"
    assert source.sent == [50, 50]


def test_a_registry_that_went_back_is_read_anew() -> None:
    source = Changing()
    source.publish("skill_new")
    _session(source).entries  # noqa: B018
    del source.entries["skill_new"]
    source.revision = 1
    assert "skill_new" not in _session(source).entries


def test_without_the_registry_what_others_read_is_not_what_there_is() -> None:
    source = Changing()
    _session(source).entries  # noqa: B018
    source.is_away = True
    assert _session(source).entries == {}


def test_a_source_without_changes_gives_its_list_and_shares_it() -> None:
    source = FakeRegistry([build_bundle("alpha")])
    first = _session(source).entries
    assert _session(source).entries is first
    source.publish(build_bundle("beta"))
    assert set(_session(source).entries) == {"alpha", "beta"}


def test_a_source_goes_with_its_index() -> None:
    source = Changing()
    _session(source).entries  # noqa: B018
    known = len(SHARED_INDEXES)
    del source
    gc.collect()
    assert len(SHARED_INDEXES) < known


def test_a_source_that_nothing_can_refer_to_has_an_index_of_its_own() -> None:
    index = SkillIndex.of({"not": "hashable"})
    index.is_complete = True
    index.share({"not": "hashable"})
    assert not index.entries
