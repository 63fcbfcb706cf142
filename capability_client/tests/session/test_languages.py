"""Hints by the list alone, in the languages that capabilities declare."""

from __future__ import annotations

from capability_client import ListingEntry
from capability_client.session.hints import local_hints
from capability_client.session.invocations import ListedSkills
from capability_kit.text.trigger_matching import LANGUAGES_MAX


def _entry(name: str, trigger: str, language: object) -> ListingEntry:
    row = {"capability_id": name, "name": name, "description": name, "intent_triggers": [trigger]}
    return ListingEntry.from_answer(row if language is None else row | {"language": language})


def _hinted(message: str, *entries: ListingEntry) -> list[str]:
    skills = ListedSkills(entries)
    return [hint.capability_id for hint in local_hints(message, skills.triggers, skills.entries)]


def test_hint_goes_by_the_declared_language() -> None:
    message = "bitte die Rechnungen prüfen"
    assert _hinted(message, _entry("a", "Rechnung prüfen", "de-DE")) == ["a"]
    assert _hinted(message, _entry("a", "Rechnung prüfen", None)) == []
    assert _hinted(message, _entry("a", "Rechnung prüfen", "fr"), _entry("b", "Bericht", "de")) == []


def test_anything_else_in_the_place_of_a_language_is_none() -> None:
    given: list[object] = [[], {}, 7, "", "xx", "zh-Hans", "\ud800"]
    for language in given:
        assert _hinted("a report please", _entry("a", "reports", language)) == ["a"]


def test_languages_of_a_list_are_bounded() -> None:
    tags = ["ar", "ca", "cs", "da", "de", "el", "es", "et", "eu", "fi"]
    skills = ListedSkills([_entry(f"skill_{tag}", "word", tag) for tag in tags])
    assert len(skills.triggers.languages) == LANGUAGES_MAX
    assert len(skills.triggers.find("words")) == len(tags)
