"""What matching has to say at the gate, as findings in capability.json."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from capability_rules.bundles.json_locations import build_pointer, locate_path
from capability_rules.bundles.problem import Path
from capability_rules.bundles.profile import profile_from_json
from capability_rules.validation import Finding, Report
from registry.matching.trigger_overlaps import Overlap

if TYPE_CHECKING:
    from registry.matching.utterance_regression import UtteranceRegression

FILE: Final = "capability.json"


def find_matching_issues(
    report: Report, overlaps: Sequence[Overlap], rehearsal: UtteranceRegression | None
) -> Iterator[Finding]:
    """Warnings only: who a message is meant for is for people to decide."""
    for overlap in overlaps:
        others = ", ".join(f"'{other}'" for other in overlap.others[:3]) + (" and more" if overlap.others[3:] else "")
        message = f"The trigger '{overlap.trigger}' is one of {others} as well"
        hint = "Make it more specific, or take it out of one of the two."
        yield _finding(report, "TRIGGER_OVERLAP", ("intent_triggers", overlap.place), message, hint)
    yield from _find_nothing_to_match(report)
    if rehearsal is None:
        return
    for moved in rehearsal.moved:
        message = f"'{moved.sentence}', an example message of '{moved.capability_id}', would lead here"
        hint = "Make the triggers more specific, or agree with the other's owner."
        yield _finding(report, "GOLDEN_SENTENCE_MOVED", (), message, hint)
    for missed in rehearsal.missed:
        message = f"A message like '{missed.sentence}' may lead to '{missed.leads_to}' instead"
        path: Path = ("utterances", "should_match", missed.place)
        hint = "Add more example messages like it, or a trigger that it contains."
        yield _finding(report, "GOLDEN_SENTENCE_MISSED", path, message, hint)
    if rehearsal.duplicates:
        others = ", ".join(f"'{other}'" for other in rehearsal.duplicates[:3])
        message = f"This is for nearly the same intent as {others}: a message leads to the better of them alone"
        hint = "Keep one of them, or say in description and example messages what tells them apart."
        yield _finding(report, "INTENT_DUPLICATED", ("description",), message, hint)
    yield from _find_unread_language(report)


def _find_nothing_to_match(report: Report) -> Iterator[Finding]:
    """A text that no message can be tested against, which would else pass as ready."""
    capability = report.bundle.capability if report.bundle is not None else {}
    profile = profile_from_json(capability)
    if report.bundle is None or profile.triggers or profile.sentences or profile.is_closed_to_model:
        return
    message = "There is no trigger and no example message: only the description leads here, and no message was tested"
    hint = "Add triggers, or messages under utterances.should_match."
    yield _finding(report, "TRIGGERS_MISSING", (), message, hint)


def _find_unread_language(report: Report) -> Iterator[Finding]:
    # numpy, and what describes the models: only what matches pays for it.
    from registry.matching.readability import describe_languages, find_unread_text

    text = find_unread_text(profile_from_json(report.bundle.capability)) if report.bundle is not None else ""
    if text:
        message = f"'{text[:80]}' is in a language that this registry does not compare by sentence"
        hint = f"Add triggers, which are found in any language. Sentences are read in: {describe_languages()}."
        yield _finding(report, "LANGUAGE_NOT_READ", ("description",), message, hint)


def _finding(report: Report, code: str, path: Path, message: str, hint: str) -> Finding:
    text = report.files[FILE]
    line, column = locate_path(text, path)
    return Finding(code, "warning", FILE, build_pointer(path), line, column, message, hint)
