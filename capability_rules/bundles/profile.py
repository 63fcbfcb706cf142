"""What a capability says of itself, as far as matching and search need it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, Final

from capability_kit.bundles.invocation_rules import is_closed_to_model
from capability_kit.json_text import as_mapping, parse_json
from capability_kit.text.denials import find_denials
from capability_kit.text.languages import get_stemmed_language
from capability_kit.text.tokenizer import has_words, tokenize
from capability_kit.text.trigger_matching import fold_substring, is_substring
from capability_rules.bundles.description_phrases import PHRASES_MAX, find_phrases
from capability_rules.bundles.skill_prose import extract_prose

# The longest list and the longest text that the schema of capability.json allows.
LIST_MAX: Final = 200
TEXT_MAX: Final = 4000
_TEXTS_OF_LANGUAGE_MAX: Final = 20


@dataclass(frozen=True)
class CapabilityProfile:
    """One capability: its words, its example messages, where it belongs. `problem` and what follows: playbooks."""

    capability_id: str
    name: str
    description: str = ""
    triggers: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()
    counter_sentences: tuple[str, ...] = ()
    skill_groups: tuple[str, ...] = ()
    os: tuple[str, ...] = ("common",)
    priority: int = 0
    problem: str = ""
    conditions: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    # The user alone starts it: no message leads to it.
    is_closed_to_model: bool = False
    # The beginning of its skill doc, as prose.
    prose: str = ""
    # The BCP 47 tag that it declares.
    language: str = ""

    @cached_property
    def stemmed_language(self) -> str:
        """By whose rules its triggers are stemmed beside those of English: the declared language's, or that of its
        texts; empty where that is English, unclear or not stemmed."""
        texts = (self.name, self.description, *self.triggers, *self.sentences)
        return get_stemmed_language(self.language, islice(texts, _TEXTS_OF_LANGUAGE_MAX))

    @property
    def described_share(self) -> float:
        """How much its skill doc counts beside its example messages, 0 to 1: the less, the more of those there are."""
        return max(0.0, 1 - len(self.sentences) / PHRASES_MAX) if self.prose else 0.0

    @cached_property
    def own_words(self) -> tuple[str, ...]:
        """What it says of itself, one sample of it each."""
        said = (self.name, self.description, ", ".join(self.triggers), self.problem, ". ".join(self.conditions))
        return tuple(dict.fromkeys(text for text in (*said, ", ".join(self.keywords)) if has_words(text)))

    @cached_property
    def phrases(self) -> tuple[str, ...]:
        """What its description names, in the place of example messages: the fewer, the more of those there are."""
        return find_phrases(self.description, most=max(0, PHRASES_MAX - len(self.sentences)))

    @cached_property
    def says_no(self) -> bool:
        """Whether one of its example messages says no to something, as messages that lead to it may then."""
        return any(find_denials(sentence) for sentence in self.sentences)

    @cached_property
    def samples(self) -> tuple[str, ...]:
        """Every sentence that represents it: its own words, the example messages, then what its description names.
        Where there is nothing, as in a draft that was just begun, its id. An emoji alone is not a sentence: every short
        message would be near to it."""
        spoken = (text for text in self.sentences if has_words(text))
        return tuple(dict.fromkeys((*self.own_words, *spoken, *self.phrases))) or (self.capability_id,)


def trigger_form(trigger: str) -> str:
    """Two triggers with one form are found by the same messages: `sign-up`, "Signing up" and "signup"."""
    if is_substring(trigger):
        return fold_substring(trigger).strip()
    return "".join(word.stem for word in tokenize(trigger))


def profile_from_json(capability: Mapping[str, Any], skill_doc: str = "") -> CapabilityProfile:
    """From a capability.json and the beginning of its skill.md, also of a draft.

    What is missing or wrong is left empty, and of what is longer than any that can be published the beginning counts,
    so that no draft makes matching slow.
    """
    utterances = as_mapping(capability.get("utterances"))
    playbook = as_mapping(capability.get("playbook"))
    return CapabilityProfile(
        capability_id=str(capability.get("capability_id", "")),
        name=_text(capability.get("name", "")),
        description=_text(capability.get("description", "")),
        triggers=_texts(capability.get("intent_triggers")),
        sentences=_texts(utterances.get("should_match")),
        counter_sentences=_texts(utterances.get("should_not_match")),
        skill_groups=_texts(capability.get("skill_groups")),
        os=_texts(capability.get("os")) or ("common",),
        priority=priority if isinstance(priority := capability.get("priority"), int) else 0,
        problem=_text(playbook.get("problem", "")),
        conditions=_texts(playbook.get("conditions")),
        keywords=_texts(playbook.get("keywords")),
        is_closed_to_model=is_closed_to_model(capability),
        prose=extract_prose(skill_doc),
        language=_text(capability.get("language", "")),
    )


def profile_from_text(capability_json: str, skill_doc: str = "") -> CapabilityProfile:
    """As `profile_from_json`, from the stored texts."""
    return profile_from_json(as_mapping(parse_json(capability_json)), skill_doc)


def _text(value: Any) -> str:
    return str(value)[:TEXT_MAX]


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    return tuple(_text(item) for item in value[:LIST_MAX] if isinstance(item, str) and item.strip())
