"""What a message was matched against, and what the session has after it: for the panels beside a conversation.

The decision is the one that `capability_match` gives, the session the one that agents run: what the page shows is what
an agent gets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from capability_client import Session
from capability_client.session.options import Event
from capability_kit.bundles.bundle import Bundle
from capability_kit.bundles.forms import FormError, form_messages
from capability_kit.environment.probe import Environment
from capability_kit.environment.readiness import Readiness, check_readiness
from capability_kit.errors import RegistryError as ClientError
from capability_kit.prompt import CHARACTERS_MAX, skill_text
from capability_kit.text.sanitize import one_line
from capability_rules.errors import RegistryError
from capability_rules.validation.isolation.form_dry_run import dry_run_event
from registry.authoring.form_generator import name_tool
from registry.snapshot import Snapshot
from studio.pages.form_dry_run import FormCall, describe_outcome
from studio.pages.html_forms import HtmlForm, build_html_form

if TYPE_CHECKING:
    from features.evaluations.sides import PlayedSide
    from registry.matching.matcher import Match, Matcher, MatchResult

_SHOWN: Final = 5
_FORMS_MAX: Final = 20
_QUOTED_ID: Final = re.compile(r"'([a-z0-9_]+)'")
_PARTS: Final = (
    ("trigger", gettext_lazy("Trigger")),
    ("sentence", gettext_lazy("Example message")),
    ("probability", gettext_lazy("Probability")),
)


@dataclass(frozen=True)
class TextPart:
    """A part of the message; `trigger` names the trigger found there, if any."""

    text: str
    trigger: str


@dataclass(frozen=True)
class ScoreBar:
    """A number from 0 to 1, to be drawn: `percent` is 0 to 100."""

    label: str
    value: float

    @property
    def percent(self) -> int:
        """How long it is."""
        return round(100 * min(1.0, max(0.0, self.value)))


@dataclass(frozen=True)
class CandidateView:
    """A capability that a message was matched against. `standing`: `fits`, `tie`, `near miss`, or `no match` with less
    than half of the score that a match has at least."""

    capability_id: str
    name: str
    score: ScoreBar
    parts: tuple[ScoreBar, ...]
    triggers: tuple[str, ...]
    standing: str
    is_draft: bool


@dataclass(frozen=True)
class AnswerView:
    """A capability that a message leads to: `percent` is how likely it is it, from 0 to 100, `how` says by what it was
    found. `readiness` is None where it could not be loaded."""

    capability_id: str
    name: str
    emoji: str
    percent: int
    how: str
    is_draft: bool
    readiness: Readiness | None


@dataclass(frozen=True)
class ActiveSkillView:
    """A skill in use after a message; `characters` are of its text in the prompt."""

    name: str
    turns_left: int
    characters: int


@dataclass(frozen=True)
class PromptBudget:
    """The characters that the texts of skills take of what they may; `omitted` are `(name of a skill, why)`."""

    used: int
    omitted: tuple[tuple[str, str], ...]
    most: int = CHARACTERS_MAX

    @property
    def bar(self) -> ScoreBar:
        """The share that is used."""
        return ScoreBar("Budget", self.used / self.most)


@dataclass(frozen=True)
class MatchView:
    """One message and what came of it. `answers` are what it needs or, with two readings, what fits equally; `events`
    are in words, `reason` is the one of the verdict with the names of what it speaks of."""

    message: str
    pieces: tuple[TextPart, ...]
    verdict: MatchResult
    reason: str
    candidates: tuple[CandidateView, ...]
    groups: tuple[str, ...]
    answers: tuple[AnswerView, ...]
    active: tuple[ActiveSkillView, ...]
    budget: PromptBudget
    events: tuple[str, ...]


@dataclass(frozen=True)
class ShownForm:
    """A form of a skill in use, as a renderer takes it; `calls` are `(label of a button, tool)`, `plain` is for
    no scripts."""

    capability_id: str
    capability_name: str
    schema_id: str
    title: str
    messages: list[dict[str, Any]]
    calls: tuple[tuple[str, str], ...]
    plain: HtmlForm


def read_side(*, with_drafts: bool) -> PlayedSide:
    """What messages meet; `with_drafts` has drafts that pass in the place of what is published.

    Raises `RegistryUnavailable` where nothing was ever read.
    """
    # numpy takes a tenth of a second to import: only what matches pays for it.
    from features.evaluations.sides import read_side

    return read_side("", "draft" if with_drafts else "live")


def name_capability(capability_id: str, matcher: Matcher) -> str:
    """Its name, or its id where it has none."""
    place = matcher.places.get(capability_id)
    return capability_id if place is None else matcher.known[place].name or capability_id


def describe_match(session: Session, message: str, side: PlayedSide, events: Iterable[Event]) -> MatchView:
    """What a message was matched against, and where it has left the session; `events` are those of its turn."""
    index, matcher = side.index, side.index.matcher
    verdict = index.match(message, top=_SHOWN)
    loaded = {one.capability_id: one.bundle for one in session.active}
    candidates = tuple(_candidate(one, verdict, side.source.snapshot, matcher) for one in verdict.matches)
    matched = [one.capability_id for one in verdict.matches if not one.is_below_threshold]
    groups = [group for name in dict.fromkeys([*verdict.needed, *matched]) for group in index.groups_of(name)]
    return MatchView(
        message=message,
        pieces=tuple(_pieces(message, verdict.matches)),
        verdict=verdict,
        reason=_with_names(verdict.reason, matcher),
        candidates=candidates,
        groups=tuple(dict.fromkeys(groups + index.match_groups(message, top=_SHOWN))),
        answers=tuple(_answers(candidates, verdict, loaded, session.environment)),
        active=tuple(
            ActiveSkillView(
                name_capability(one.capability_id, matcher), one.turns_left(session.number), len(_text(one.bundle))
            )
            for one in session.active
        ),
        budget=_budget(session, matcher),
        events=tuple(_describe_event(one, matcher) for one in events if one.kind not in ("call", "messages")),
    )


def _describe_event(event: Event, matcher: Matcher) -> str:
    words = one_line(_with_names(event.words, matcher), most=300)
    return f"{name_capability(event.capability_id, matcher)} {event.kind}: {words}" if event.capability_id else words


def match_standing(one: Match, verdict: MatchResult, threshold: float) -> str:
    """How a capability fared against a message."""
    if one.is_below_threshold:
        return "near miss" if one.score > threshold / 2 else "no match"
    return "tie" if verdict.decision == "ambiguous" else "fits"


def _with_names(text: str, matcher: Matcher) -> str:
    """A sentence that quotes ids, with names in their place."""

    def named(found: re.Match[str]) -> str:
        return f"“{name_capability(found[1], matcher)}”" if found[1] in matcher.places else found[0]

    return _QUOTED_ID.sub(named, text)


def _candidate(one: Match, verdict: MatchResult, snapshot: Snapshot, matcher: Matcher) -> CandidateView:
    return CandidateView(
        one.capability_id,
        name_capability(one.capability_id, matcher),
        ScoreBar(_("Score"), one.score),
        tuple(ScoreBar(str(label), one.parts.get(part, 0.0)) for part, label in _PARTS),
        tuple(dict.fromkeys(hit.trigger for hit in one.triggers)),
        match_standing(one, verdict, matcher.threshold),
        one.capability_id in snapshot.drafts,
    )


def _answers(
    candidates: Sequence[CandidateView],
    verdict: MatchResult,
    loaded: Mapping[str, Bundle],
    environment: Environment,
) -> Iterator[AnswerView]:
    """In the order in which the message asks for them; with two readings, the better one first."""
    by_id = {one.capability_id: one for one in candidates}
    readings = [one.capability_id for one in candidates if one.standing == "tie"]
    for capability_id in verdict.needed or readings:
        bundle = loaded.get(capability_id)
        if (one := by_id.get(capability_id)) is None:
            continue
        yield AnswerView(
            capability_id,
            one.name,
            str(bundle.capability.get("emoji", "")) if bundle else "",
            one.parts[-1].percent or one.score.percent,
            _found_by(one),
            one.is_draft,
            check_readiness(bundle, environment) if bundle else None,
        )


def _found_by(one: CandidateView) -> str:
    if one.triggers:
        return _("trigger “%(trigger)s”") % {"trigger": one.triggers[0]}
    return _("similar to its examples")


def _budget(session: Session, matcher: Matcher) -> PromptBudget:
    prompt = session.prompt()
    used = sum(len(_text(one.bundle)) for one in session.active if one.capability_id in prompt.included)
    omitted = tuple((name_capability(capability_id, matcher), why) for capability_id, why in prompt.omitted)
    return PromptBudget(min(used, CHARACTERS_MAX), omitted)


def _text(bundle: Bundle) -> str:
    return skill_text(bundle, "", {})


def list_forms(session: Session) -> list[ShownForm]:
    """Those of the skills in use, the most recent first. What is loaded has passed: its forms can be drawn."""
    return list(islice(_forms(session), _FORMS_MAX))


def _forms(session: Session) -> Iterator[ShownForm]:
    for one in session.active:
        entries: tuple[dict[str, Any], ...] = one.bundle.ui_schemas
        for entry in entries:
            name, actions = str(entry.get("schema_id", "")), entry.get("actions") or {}
            messages, plain = form_messages(one.bundle, name), build_html_form(entry["definition"])
            labels = {button.event["name"]: button.label for button in reversed(plain.buttons)}
            tools = {action: str(meant["tool"]) for action, meant in actions.items() if meant.get("tool")}
            calls = tuple((labels.get(action, action), name_tool(tool)) for action, tool in tools.items())
            title, whose = str(entry.get("title") or name), str(one.bundle.capability.get("name") or one.capability_id)
            yield ShownForm(one.capability_id, whose, name, title, messages, calls, plain)


def _pieces(message: str, matches: Sequence[Match]) -> Iterator[TextPart]:
    """The message split at its triggers; of two that overlap the first one is shown."""
    at = 0
    for hit in sorted((hit for one in matches for hit in one.triggers), key=lambda hit: (hit.start, -hit.end)):
        if hit.start < at:
            continue
        if hit.start > at:
            yield TextPart(message[at : hit.start], "")
        yield TextPart(message[hit.start : hit.end], hit.trigger)
        at = hit.end
    if at < len(message):
        yield TextPart(message[at:], "")


def dry_run_form(
    *, capability_id: str, schema_id: str, read_event: Callable[[Bundle], Mapping[str, Any]], with_drafts: bool
) -> FormCall:
    """As a session of the playground takes what a renderer has delivered: what the form means by it, then the gate of
    the calls. `read_event` makes the event for the bundle that an agent has loaded."""
    try:
        bundle = read_side(with_drafts=with_drafts).source.load(capability_id)
        event = read_event(bundle)
    except (ClientError, RegistryError, FormError) as error:
        return FormCall("refused", f"{error}.")
    told = describe_outcome(dry_run_event(bundle, schema_id, event))
    return replace(told, tool=name_tool(told.tool)) if told.tool else told
