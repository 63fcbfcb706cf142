"""Triggers and example messages that a description names: what an author can take with one click."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from capability_kit.text.trigger_matching import TriggerIndex
from capability_rules.bundles.description_phrases import PHRASES_MAX, find_phrases, find_quotations
from capability_rules.bundles.profile import CapabilityProfile, trigger_form
from registry.authoring.capability_creation import SUGGESTED_MAX, find_trigger_conflicts
from registry.authoring.trigger_suggestions import list_trigger_candidates
from registry.authoring.utterances import UtteranceList

# With more of them than this, nothing is suggested.
FEW_TRIGGERS: Final = 3
FEW_MESSAGES: Final = 3
_MESSAGE_WORDS_LEAST: Final = 3
# Descriptions speak of a user, and a message is what the user says.
_ABOUT_USERS: Final = re.compile(
    r"^(?:(?:when|if|whenever)\s+)?(?:(?:an?|the)\s+)?(?:users?|customers?|people|somebody|someone|they)?\s*"
    r"(?:wants?|needs?|asks?|would like|wishes)(?:\s+(?:you\s+)?(?:to|for|about))?\s+",
    re.IGNORECASE,
)
_NAMES_USERS: Final = re.compile(r"\busers?\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PhraseSuggestion:
    """A phrase for one of the lists. `catches` is a message that it would find, and `others` the capabilities that have
    it as a trigger."""

    text: str
    place: UtteranceList
    catches: str
    others: tuple[str, ...] = ()


def suggest_phrases(known: CapabilityProfile) -> list[PhraseSuggestion]:
    """Triggers first, then example messages, each where there are few."""
    triggers = _suggest_triggers(known) if len(known.triggers) < FEW_TRIGGERS else []
    return [*triggers, *(_suggest_messages(known) if len(known.sentences) < FEW_MESSAGES else [])]


def _suggest_triggers(known: CapabilityProfile) -> list[PhraseSuggestion]:
    found = list_trigger_candidates(name=known.name, description=known.description, given=known.triggers)
    found = found[:SUGGESTED_MAX]
    others = {each.trigger: each.others for each in find_trigger_conflicts(found)}
    said = (*known.sentences, *find_quotations(known.description), *find_phrases(known.description))
    suggested = []
    for phrase in found:
        elsewhere = tuple(name for name in others.get(phrase, ()) if name != known.capability_id)
        suggested.append(PhraseSuggestion(phrase, "intent_triggers", _caught(phrase, said), elsewhere))
    return suggested


def _caught(phrase: str, said: tuple[str, ...]) -> str:
    """The shortest of these sentences that has the phrase and more; the phrase itself where there is none."""
    index = TriggerIndex([("", phrase)])
    longer = (text for text in said if trigger_form(text) != trigger_form(phrase) and index.find_strong(text))
    return min(longer, key=len, default=phrase)


def _suggest_messages(known: CapabilityProfile) -> list[PhraseSuggestion]:
    stripped = (_ABOUT_USERS.sub("", text) for text in find_phrases(known.description))
    phrases = (text for text in stripped if not _NAMES_USERS.search(text))
    named = dict.fromkeys((*find_quotations(known.description), *phrases))
    given = {trigger_form(text) for text in known.sentences}
    return [
        PhraseSuggestion(text, "should_match", text)
        for text in named
        if len(text.split()) >= _MESSAGE_WORDS_LEAST and trigger_form(text) not in given
    ][:PHRASES_MAX]
