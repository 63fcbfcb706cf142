"""What goes on from the index before is what is built from nothing, over any sequence of publishes and retirements."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capability_kit.text.trigger_matching import TriggerIndex
from capability_rules.bundles.profile import CapabilityProfile
from registry.matching import trigger_evidence
from registry.matching.index import changed_triggers
from registry.matching.matcher import Matcher, list_trigger_languages
from registry.matching.trigger_evidence import TriggerEvidence

# Forms that meet: hyphens, stems, joined words, weak content words, scripts without spaces.
PHRASES = (
    "weigh-in",
    "weigh in",
    "weighin",
    "weighed",
    "sign up",
    "sign-up",
    "体重",
    "我的体重",
    "refund",
    "a-a-a",
    "bench 1",
    "Rechnung prüfen",
    "facture",
)
SENTENCES = (
    "I weighed in",
    "sign-up please",
    "记录我的体重",
    "refunds for a weigh-in",
    "a-a-a a",
    "signup bench 1",
    "nothing",
    "bitte die Rechnungen pruefen, Rechnungen prüfen",
    "mes factures, et une Rechnung prüfen",
)
profiles = st.builds(
    CapabilityProfile,
    capability_id=st.sampled_from(["a", "b", "c", "d"]),
    name=st.sampled_from(["One", "weigh-in", "Sign up"]),
    triggers=st.lists(st.sampled_from(PHRASES), max_size=4).map(tuple),
    language=st.sampled_from(["", "en", "de", "fr-CA"]),
    sentences=st.lists(st.sampled_from(SENTENCES), max_size=4).map(tuple),
)
# A publish or a change; a retirement where it is only an id.
steps = st.lists(st.one_of(profiles, st.sampled_from(["a", "b", "c", "d"])), min_size=1, max_size=12)


def _sorted(held: dict[str, CapabilityProfile]) -> list[CapabilityProfile]:
    return [one for _, one in sorted(held.items())]


def _all_hits(index: TriggerIndex) -> list[Any]:
    return [index.find(text) for text in (*PHRASES, *SENTENCES, " ".join((*PHRASES, *SENTENCES)))]


@given(steps)
@settings(max_examples=150)
def test_going_on_is_building_from_nothing(sequence: list[CapabilityProfile | str]) -> None:
    held: dict[str, CapabilityProfile] = {}
    evidence, matcher = TriggerEvidence(), Matcher([], None)
    languages: frozenset[str] = frozenset()
    for step in sequence:
        if isinstance(step, str):
            held.pop(step, None)
        else:
            held[step.capability_id] = step
        known = _sorted(held)
        triggers = changed_triggers(matcher, known)
        matcher = Matcher(known, None, triggers=triggers, trigger_evidence=evidence)
        new = Matcher(known, None)
        # Where messages are stemmed by other languages than before, everything is built from nothing.
        assert triggers is not None or list_trigger_languages(known) != languages
        languages = list_trigger_languages(known)
        assert matcher.triggers._tries == new.triggers._tries
        assert matcher.triggers._unspaced == new.triggers._unspaced
        assert _all_hits(matcher.triggers) == _all_hits(new.triggers)
        assert matcher._counts == new._counts


@given(steps)
@settings(max_examples=50)
def test_counting_ends_and_begins_with_the_number_of_sentences(sequence: list[CapabilityProfile | str]) -> None:
    held: dict[str, CapabilityProfile] = {}
    evidence = TriggerEvidence()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trigger_evidence, "SENTENCES_MAX", 8)
        for step in sequence:
            if isinstance(step, str):
                held.pop(step, None)
            else:
                held[step.capability_id] = step
            known = _sorted(held)
            triggers = Matcher(known, None).triggers
            counts = evidence.counts(known, triggers)
            assert counts == TriggerEvidence().counts(known, triggers)
            if sum(len(one.samples) for one in known) > 8:
                assert not counts.own
                assert not counts.seen


def test_an_index_that_is_gone_on_from_stays_as_it_is() -> None:
    before = TriggerIndex([("a", "refund"), ("b", "weigh-in"), ("b", "体重")])
    hits = _all_hits(before)
    after = before.replaced("b", ("weigh-in", "体重"), ("refund",)).replaced("a", ("refund",), ())
    assert _all_hits(before) == hits
    assert _all_hits(after) == _all_hits(TriggerIndex([("b", "refund")]))
    assert before.replaced("b", ("weigh-in", "体重"), ("weigh-in", "体重")) is before


@pytest.mark.parametrize("text", [*PHRASES, *SENTENCES])
def test_a_sentence_has_the_keys_of_the_triggers_in_it(text: str) -> None:
    languages = ("", "de", "fr")
    index = TriggerIndex(("a", phrase, language) for phrase in PHRASES for language in languages)
    found, keys = index.find_strong_and_keys(text)
    assert found == index.find_strong(text)
    for phrase in found:
        needed = [each for language in languages for each in trigger_evidence._needed(phrase, language)]
        assert any(keys.issuperset(each) for each in needed)


def test_how_specific_a_trigger_is() -> None:
    known = [
        CapabilityProfile("a", "Scales", triggers=("weigh-in",), sentences=("a weigh-in today",)),
        CapabilityProfile("b", "Other", triggers=("other",), sentences=("no weigh-in here",)),
    ]
    counts = Matcher(known, None)._counts
    # Three sentences have it: the list of a's triggers, a's own sentence, and one of b.
    assert counts.specificity("a", "weigh-in") == (2 + 1) / (3 + 1)


def test_a_trigger_is_stemmed_in_the_six_languages_that_most_capabilities_have() -> None:
    tags = ["de", "de", "es", "fr", "it", "nl", "pl", "pt", "", "en", "zh"]
    known = [
        CapabilityProfile(f"c{at}", "One", triggers=("x",), language=tag, sentences=("x",))
        for at, tag in enumerate(tags)
    ]
    matcher = Matcher(known, None)
    assert matcher.triggers.languages == {"de", "es", "fr", "it", "nl", "pl"}
    # The seventh keeps the stems of English.
    assert {hit.owner for hit in matcher.triggers.find("x")} == {one.capability_id for one in known}
    assert matcher._counts.seen["x"] == len(tags)
