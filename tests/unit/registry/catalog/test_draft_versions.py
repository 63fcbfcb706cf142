"""Earlier drafts: which texts are kept, for how long, and how one of them becomes the draft again."""

from __future__ import annotations

from datetime import timedelta
from random import Random
from typing import Any

import pytest

from registry.access import operators, teams
from registry.catalog import draft_versions, drafts
from registry.common.actors import Actor
from registry.common.errors import CapabilityNotFound, DraftConflict, DraftNotFound, Forbidden
from registry.core import audit
from registry.models import AuditEvent, Capability, Draft, DraftVersion
from registry.publishing import proposals
from tests.factories import OLGA, Files, bundle, publish, to_json, tool

pytestmark = pytest.mark.django_db
VERA = Actor("operator", "vera")
SECTIONS = "".join(f"## Part {number}\n\nSay {number}.\n\n" for number in range(3))
NOTE = {"type": "string", "description": "What to note."}


def _body(text: str) -> Files:
    return bundle(body=text)


def _save(files: Files, by: Actor = OLGA) -> int:
    """Over whatever draft there is."""
    found = Draft.objects.filter(discarded_at__isnull=True).first()
    based_on = found.version if found else None
    return drafts.save_draft(capability_id="alpha", files=files, based_on=based_on, by=by).version


def _later(**how_much: float) -> None:
    """Let time pass: what was kept is older."""
    for version in DraftVersion.objects.all():
        DraftVersion.objects.filter(pk=version.pk).update(replaced_at=version.replaced_at - timedelta(**how_much))


def _listed() -> list[int]:
    return [one.version for one in draft_versions.list_earlier_drafts(Capability.objects.get())]


def _texts(version: int) -> Files:
    return draft_versions.get_earlier_draft(Capability.objects.get(), version)[1]


def _restore(version: int, based_on: int | None, by: Actor = OLGA) -> Draft:
    return drafts.restore_version(capability_id="alpha", version=version, based_on=based_on, by=by)


def test_a_save_keeps_the_text_that_it_replaces() -> None:
    _save(_body("One."))
    _save(_body("Two."), by=VERA)
    (kept,) = draft_versions.list_earlier_drafts(Capability.objects.get())
    assert (kept.version, kept.saved_by, kept.replaced_by) == (1, "operator:olga", "operator:vera")
    assert kept.change == {"lines_added": 1, "lines_removed": 1}
    assert not kept.is_set_aside
    assert _texts(1) == _body("One.")


def test_the_first_save_of_a_draft_replaces_nothing() -> None:
    publish()
    _save(_body("One."))
    assert _listed() == []


def test_a_save_of_the_same_text_keeps_nothing() -> None:
    _save(_body("One."))
    _save(_body("One."))
    assert _listed() == []


def test_an_author_keeps_one_version_in_five_minutes() -> None:
    for text in ("One.", "Two.", "Three."):
        _save(_body(text))
    assert _listed() == [1]
    _later(minutes=4, seconds=50)
    _save(_body("Four."))
    assert _listed() == [1]
    _later(minutes=1)
    _save(_body("Five."))
    assert _listed() == [4, 1]


def test_the_text_of_another_author_is_always_kept() -> None:
    _save(_body("One."))
    for by in (VERA, OLGA, VERA):
        _save(_body(f"After {by}, {Draft.objects.get().version}."), by=by)
    assert _listed() == [3, 2, 1]


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (_body(SECTIONS), _body(SECTIONS.replace("## Part 1\n\nSay 1.\n\n", "")), {"sections": -1}),
        (bundle(tools=[tool("a_list"), tool("b_list")]), bundle(tools=[tool("a_list")]), {"tools": -1}),
        (
            bundle(tools=[tool("a_list", properties={"note": NOTE})]),
            bundle(tools=[tool("a_list")]),
            {"arguments": -1},
        ),
        (
            _body("x") | {"ui_schemas.json": to_json([{"schema_id": "a"}, {"schema_id": "b"}])},
            _body("x") | {"ui_schemas.json": to_json([{"schema_id": "a"}])},
            {"forms": -1},
        ),
        (_body("x") | {"references/a.md": "Short."}, _body("x"), {"supporting_files": -1}),
        (_body("One.\nTwo.\nThree.\nFour.\nFive."), _body("Six."), {"lines_removed": 5}),
        (_body("word " * 60), _body("word " * 20), {"lines_removed": 1}),
    ],
    ids=["section", "tool", "argument", "form", "supporting file", "lines", "characters"],
)
def test_a_save_that_removes_much_always_keeps_a_version(before: Files, after: Files, change: dict[str, int]) -> None:
    _save(_body("Begun."))
    _save(before)
    _save(after)
    assert _listed() == [2, 1]
    assert _texts(2) == before
    kept = DraftVersion.objects.get(version=2)
    assert change.items() <= kept.change.items()


def test_renaming_a_section_letter_by_letter_keeps_one_version() -> None:
    for name in ("Part", "Pars", "Parsing", "Parsin"):
        _save(_body(f"## {name}\n\nText."))
    assert _listed() == [1]


@pytest.mark.parametrize("text", ["{", "[" * 100_000, "3", '{"tools": 3}', "[[], 3, null]"])
def test_a_file_in_the_middle_of_being_typed_is_kept_as_well(text: str) -> None:
    _save(bundle(tools=[tool("a_list")]) | {"tools.json": text})
    _save(bundle(tools=[tool("a_list")]))
    assert _texts(1)["tools.json"] == text


@pytest.mark.slow
def test_at_most_fifty_versions_are_kept() -> None:
    for number in range(draft_versions.VERSIONS_MAX + 4):
        _save(_body(f"Text {number}."))
        _later(minutes=6)
    assert len(_listed()) == draft_versions.VERSIONS_MAX
    assert _listed()[-1] == 4


def test_large_texts_are_limited_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draft_versions, "BYTES_MAX", 40_000)
    random = Random(1)
    for _ in range(5):
        _save(_body(random.randbytes(12_000).hex()))
        _later(minutes=6)
    sizes = DraftVersion.objects.values_list("size_bytes", flat=True)
    assert 0 < sum(sizes) <= 40_000
    assert _listed() == [4, 3]


def test_the_newest_version_is_kept_however_large_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draft_versions, "BYTES_MAX", 1)
    _save(_body("One."))
    _save(_body("Two."), by=VERA)
    _save(_body("Three."))
    assert _listed() == [2]


def test_versions_are_forgotten_after_thirty_days() -> None:
    _save(_body("One."))
    _save(_body("Two."))
    _later(days=30, minutes=1)
    assert _listed() == []
    with pytest.raises(DraftNotFound):
        _restore(1, based_on=2)
    _save(_body("Three."))
    assert list(DraftVersion.objects.values_list("version", flat=True)) == [2]


def test_texts_are_stored_compactly() -> None:
    _save(_body("The same sentence again.\n" * 1000))
    _save(_body("Gone."))
    assert DraftVersion.objects.get().size_bytes < 1000


def test_a_version_holds_every_letter() -> None:
    odd = _body("Ä\r\nö 🌱\u2028\u0085") | {"references/a.md": "", "tools.json": ""}
    _save(odd)
    stored = drafts.get_draft("alpha").files
    _save(_body("Gone."))
    assert _texts(1) == stored


def test_a_restored_version_is_the_draft_again_and_can_be_undone() -> None:
    _save(_body(SECTIONS))
    _save(_body("Gone."))
    draft = _restore(1, based_on=2)
    assert (draft.version, draft.files) == (3, _body(SECTIONS))
    assert drafts.get_draft("alpha").files == _body(SECTIONS)
    assert _restore(2, based_on=3).files == _body("Gone.")


def test_restoring_is_audited() -> None:
    _save(_body("One."))
    _save(_body("Two."))
    _restore(1, based_on=2, by=VERA)
    event = AuditEvent.objects.latest("id")
    assert (event.verb, event.subject, event.actor_name) == ("draft.restore", "alpha", "vera")
    assert event.detail == {"draft_version": 3, "from_version": 1}
    assert audit.find_chain_break() is None


@pytest.mark.parametrize("based_on", [None, 1, 3])
def test_restoring_over_a_draft_that_has_moved_on_is_refused(based_on: int | None) -> None:
    _save(_body("One."))
    _save(_body("Two."))
    with pytest.raises(DraftConflict) as caught:
        _restore(1, based_on=based_on)
    assert caught.value.extra["theirs"] == _body("Two.")
    assert drafts.get_draft("alpha").files == _body("Two.")


def test_restoring_what_the_draft_holds_already_changes_nothing() -> None:
    _save(_body("One."))
    _save(_body("Two."))
    _save(_body("One."))
    count = AuditEvent.objects.count()
    assert _restore(1, based_on=3).version == 3
    assert AuditEvent.objects.count() == count


def test_what_is_not_kept_cannot_be_restored() -> None:
    with pytest.raises(CapabilityNotFound):
        _restore(1, based_on=None)
    _save(_body("One."))
    with pytest.raises(DraftNotFound):
        _restore(1, based_on=1)


def test_a_discarded_draft_can_be_restored() -> None:
    _save(_body("One."))
    drafts.discard_draft(capability_id="alpha", by=OLGA)
    (found,) = draft_versions.list_earlier_drafts(Capability.objects.get())
    assert (found.version, found.is_set_aside) == (1, True)
    assert _restore(1, based_on=None).files == _body("One.")
    assert drafts.get_draft("alpha").version == 1
    assert _listed() == []


def test_a_discarded_draft_can_be_restored_over_a_newer_one() -> None:
    _save(_body("One."))
    drafts.discard_draft(capability_id="alpha", by=OLGA)
    _save(_body("Two."))
    assert _restore(1, based_on=2).files == _body("One.")
    assert _listed() == [2, 1]
    assert _restore(2, based_on=3).files == _body("Two.")


def test_a_version_of_a_discarded_draft_makes_a_new_one() -> None:
    _save(_body("One."))
    _save(_body("Two."))
    drafts.discard_draft(capability_id="alpha", by=OLGA)
    assert _listed() == [2, 1]
    assert (_restore(1, based_on=None).version, drafts.get_draft("alpha").files) == (3, _body("One."))


def test_a_draft_that_an_import_replaced_can_be_restored() -> None:
    _save(_body("Mine."))
    drafts.replace_draft(capability_id="alpha", files=_body("Imported."), by=VERA)
    assert _restore(1, based_on=2).files == _body("Mine.")
    assert _restore(2, based_on=3).files == _body("Imported.")


def test_a_watched_folder_that_writes_over_its_own_draft_keeps_versions_too() -> None:
    _save(_body(SECTIONS))
    drafts.replace_draft(capability_id="alpha", files=_body("Gone."), by=OLGA, over=1)
    assert _texts(1) == _body(SECTIONS)


def test_a_draft_that_a_proposal_replaced_can_be_restored() -> None:
    _save(_body("Mine."))
    proposed = proposals.propose(files=_body("Proposed."), by=Actor("agent_key", "bot")).proposal
    accepted = proposals.accept_proposal(proposal_id=proposed.proposal_id, by=OLGA)
    assert _restore(1, based_on=accepted.version).files == _body("Mine.")


def test_a_restored_draft_of_a_proposal_still_belongs_to_it() -> None:
    proposed = proposals.propose(files=_body("Proposed."), by=Actor("agent_key", "bot")).proposal
    drafts.discard_draft(capability_id="alpha", by=OLGA)
    assert _restore(1, based_on=None).proposal == proposed


def test_who_wrote_a_restored_text_is_still_one_of_its_editors() -> None:
    """Or somebody could approve what they have written themselves."""
    _save(_body("One."), by=VERA)
    _save(_body("Two."))
    drafts.discard_draft(capability_id="alpha", by=OLGA)
    _save(_body("Three."))
    assert drafts.list_editors(drafts.get_draft("alpha")) == ["operator:olga"]
    assert drafts.list_editors(_restore(1, based_on=3)) == ["operator:olga", "operator:vera"]


def test_only_the_team_that_owns_it_may_restore() -> None:
    _save(_body("One."))
    _save(_body("Two."))
    operators.create_operator(username="vera", role="author", password="a-long-passphrase", by=OLGA)
    operators.create_operator(username="root", role="admin", password="a-long-passphrase", by=OLGA)
    root = Actor("operator", "root")
    team = teams.create_team(name="Owners", by=root)
    teams.set_owning_team(capability_id="alpha", key=team.pk, by=root)
    with pytest.raises(Forbidden):
        _restore(1, based_on=2, by=VERA)
    assert drafts.get_draft("alpha").files == _body("Two.")


def test_a_save_that_fails_keeps_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    _save(_body("One."))

    def fail(**_: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr(audit, "record", fail)
    with pytest.raises(RuntimeError):
        _save(_body("Two."))
    assert _listed() == []
