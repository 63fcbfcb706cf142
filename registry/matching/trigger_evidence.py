"""How specific each trigger is: in how many known sentences it occurs, and in how many of its own capability.

Kept between two indexes: a publish reads the sentences of what it changes, and for a trigger that is new the sentences
that have its rarest word.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from capability_kit.text.trigger_matching import (
    TriggerIndex,
    is_substring,
    list_substring_characters,
    strong_paths,
)
from capability_rules.bundles.profile import CapabilityProfile

# With more sentences than this none is examined: a trigger is then as specific as it has few owners.
SENTENCES_MAX: Final = 20_000


@dataclass(frozen=True, slots=True)
class TriggerCounts:
    """Immutable: the counts at one moment. `own` is by capability and trigger, `seen` and `owners` by trigger."""

    own: Mapping[tuple[str, str], int]
    seen: Mapping[str, int]
    owners: Mapping[str, int]

    def specificity(self, owner: str, trigger: str) -> float:
        """The share of the sentences with a trigger that belong to its own capability, above 0 and at most 1."""
        return (self.own.get((owner, trigger), 0) + 1) / (self.seen.get(trigger, 0) + self.owners[trigger])


class TriggerEvidence:
    """Counts that follow the capabilities; `counts` may be called by several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._clear()

    def _clear(self) -> None:
        self._known: dict[str, CapabilityProfile] = {}
        self._owners: Counter[str] = Counter()
        # Of each trigger: how many of its owners have each language.
        self._owner_languages: dict[str, Counter[str]] = {}
        # The index before: by the rules of its languages sentences are stemmed.
        self._triggers = TriggerIndex(())
        self._sentences = 0
        self._clear_sentences()

    def _clear_sentences(self) -> None:
        self._is_counting = False
        self._own: dict[tuple[str, str], int] = {}
        self._seen: Counter[str] = Counter()
        # Of each sentence: how many capabilities have it, and the triggers that it contains.
        self._uses: Counter[str] = Counter()
        self._found: dict[str, set[str]] = {}
        self._with_key: dict[str, list[str]] = {}

    def counts(self, known: Iterable[CapabilityProfile], triggers: TriggerIndex) -> TriggerCounts:
        """What is counted for these capabilities, whose triggers `triggers` has."""
        now = {one.capability_id: one for one in known}
        with self._lock:
            gone = [one for name, one in self._known.items() if now.get(name) is not one]
            new = [one for name, one in now.items() if self._known.get(name) is not one]
            phrases_before = {trigger for one in (*gone, *new) for trigger in one.triggers if trigger in self._owners}
            languages_before = {phrase: self._phrase_languages(phrase) for phrase in phrases_before}
            for one in gone:
                self._forget(one)
            for one in new:
                self._add(one)
            kept = phrases_before & self._owners.keys()
            has_same_languages = triggers.languages == self._triggers.languages
            self._triggers = triggers
            if not has_same_languages or any(
                self._phrase_languages(phrase) != languages_before[phrase] for phrase in kept
            ):
                # A trigger is found by other words now, in any sentence.
                self._clear_sentences()
            if self._sentences > SENTENCES_MAX:
                self._clear_sentences()
            elif self._is_counting:
                self._follow(new, phrases_before)
            else:
                self._clear_sentences()
                self._is_counting = True
                self._follow(self._known.values(), set(self._owners))
            return TriggerCounts(self._own.copy(), self._seen.copy(), self._owners.copy())

    def _phrase_languages(self, phrase: str) -> frozenset[str]:
        """The languages by which a trigger is stemmed for one of its owners; "" is English alone."""
        owned = self._owner_languages.get(phrase, Counter())
        languages = self._triggers.languages
        return frozenset(language if language in languages else "" for language, count in owned.items() if count)

    def _add(self, one: CapabilityProfile) -> None:
        self._known[one.capability_id] = one
        self._owners.update(one.triggers)
        self._sentences += len(one.samples)
        for trigger in set(one.triggers):
            self._owner_languages.setdefault(trigger, Counter())[one.stemmed_language] += 1

    def _forget(self, one: CapabilityProfile) -> None:
        del self._known[one.capability_id]
        self._sentences -= len(one.samples)
        self._owners.subtract(one.triggers)
        for trigger in set(one.triggers):
            self._owner_languages[trigger][one.stemmed_language] -= 1
            if not self._owners[trigger]:
                del self._owner_languages[trigger]
        for trigger in set(one.triggers):
            self._own.pop((one.capability_id, trigger), None)
            if not self._owners[trigger]:
                del self._owners[trigger]
        if not self._is_counting:
            return
        for text in one.samples:
            self._seen.subtract(self._found[text])
            self._uses[text] -= 1
            if not self._uses[text]:
                del self._uses[text], self._found[text]
                for key in self._triggers.find_strong_and_keys(text)[1]:
                    self._with_key[key].remove(text)
                    if not self._with_key[key]:
                        del self._with_key[key]

    def _follow(self, new: Iterable[CapabilityProfile], phrases_before: set[str]) -> None:
        """Count the sentences of what is new, and its new triggers in the sentences that were there before."""
        new = list(new)
        # First those before: the sentences that are added below are asked for all triggers at once.
        for phrase in {trigger for one in new for trigger in one.triggers} - phrases_before:
            self._count_phrase(phrase)
        for phrase in phrases_before - self._owners.keys():
            for text in self._texts_with(phrase):
                self._found[text].discard(phrase)
        for one in new:
            for text in one.samples:
                if text not in self._found:
                    self._found[text], keys = self._triggers.find_strong_and_keys(text)
                    for key in keys:
                        self._with_key.setdefault(key, []).append(text)
                self._uses[text] += 1
                self._seen.update(self._found[text])
        for one in new:
            self._count_own(one)
        seen = {phrase: count for phrase, count in self._seen.items() if count and phrase in self._owners}
        self._seen = Counter(seen)

    def _count_phrase(self, phrase: str) -> None:
        alone = TriggerIndex(("", phrase, language) for language in self._phrase_languages(phrase))
        for text in self._texts_with(phrase):
            if phrase not in self._found[text] and alone.find_strong(text):
                self._found[text].add(phrase)
                self._seen[phrase] += self._uses[text]

    def _count_own(self, one: CapabilityProfile) -> None:
        for trigger in set(one.triggers):
            count = sum(trigger in self._found[text] for text in one.samples)
            if count:
                self._own[one.capability_id, trigger] = count

    def _texts_with(self, phrase: str) -> set[str]:
        """The sentences that may contain a trigger: those that have the rarest word of one of its forms."""
        found: set[str] = set()
        for keys in {each for language in self._phrase_languages(phrase) or [""] for each in _needed(phrase, language)}:
            texts = [self._with_key.get(key, []) for key in keys]
            found.update(texts[np.argmin([len(one) for one in texts])])
        return found


def _needed(phrase: str, language: str) -> Iterator[tuple[str, ...]]:
    """For each way in which a trigger of a language is found the keys that the sentence must have."""
    if is_substring(phrase):
        yield tuple(f"\0{character}" for character in list_substring_characters(phrase))
    else:
        yield from strong_paths(phrase, language)
