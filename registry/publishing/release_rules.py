"""What publishing requires beside valid texts: a second person, who may loosen a policy, a note, no open comment.

One rule applies to the whole registry and one may apply to each skill group; of those that apply to a capability the
strictest counts. Without any, publishing requires nothing of it. Every way to publish goes through `check_rule`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.module_loading import import_string

from capability_kit.bundles.bundle import is_capability_id
from capability_rules.bundles.problem import Severity
from capability_rules.errors import InvalidRequest
from capability_rules.semantic_diff import Change
from capability_rules.validation import Finding, Report
from registry.common.actors import Actor
from registry.common.errors import NotFound
from registry.core import audit
from registry.core.rows import get_row
from registry.core.transactions import write_transaction
from registry.feature import installed_features
from registry.models import Capability, ReleaseRule, SkillGroup

FILE: Final = "capability.json"
RULE_COLUMNS: Final = ("four_eyes", "loosening", "note_required", "comments_resolved", "held_requires_review")
LOOSENING_CHOICES: Final = tuple(ReleaseRule.Loosening.values)


@dataclass(frozen=True, slots=True)
class EffectiveRule:
    """What applies to one capability, put together. `loosening_requires` has every condition for a looser policy."""

    four_eyes: bool = False
    loosening_requires: frozenset[str] = frozenset()
    note_required: bool = False
    comments_resolved: bool = False
    held_requires_review: bool = False

    @property
    def wants_second_person(self) -> bool:
        """Whether an approval by a second person may be required."""
        return self.four_eyes or self.held_requires_review or "second_person" in self.loosening_requires


@dataclass(frozen=True, slots=True)
class PublishQuestion:
    """What a feature is asked before a publish: the capability, None for one that is not stored yet, the digest of its
    new texts, the skill groups that it is in before or after, and who publishes, empty where that is not known."""

    capability: Capability | None
    digest: str
    groups: frozenset[str]
    by: str = ""


@dataclass(frozen=True, slots=True)
class UnmetCondition:
    """What a feature misses; an error of the gate. A waiver of it holds for the same `subject`, whatever the texts."""

    code: str
    message: str
    hint: str
    subject: str


@dataclass(frozen=True, slots=True)
class PublishConditions:
    """What one publish provides. `note` is None where none was requested yet; `approved_by` is empty where no
    second person has approved these very texts; `open_comments` counts those of the review that is at work;
    `previously_published` says that they were published before; `missing_scanners` are required tools that have not
    looked at these texts; `unmet` is what features miss; `was_quarantined` says that they were, `was_retired` that the
    capability is retired, and `by_itself` that no person asks for this publish."""

    rule: EffectiveRule = EffectiveRule()
    can_loosen: bool = True
    note: str | None = None
    approved_by: str = ""
    open_comments: int = 0
    previously_published: bool = False
    missing_scanners: tuple[str, ...] = ()
    unmet: tuple[UnmetCondition, ...] = ()
    was_quarantined: bool = False
    was_retired: bool = False
    by_itself: bool = False

    @property
    def decides_held(self) -> bool:
        """Whether somebody has to decide about doubts: a return to what was live asks nothing again, unless it was
        quarantined."""
        return self.was_quarantined or not self.previously_published


DEFAULT_RULE: Final = EffectiveRule()
DEFAULT_CONDITIONS: Final = PublishConditions()


def get_rule(groups: Collection[str]) -> EffectiveRule:
    """The strictest of the registry's rule and those of these groups."""
    found = list(ReleaseRule.objects.filter(group_id__in=["", *groups]))
    return EffectiveRule(
        four_eyes=any(rule.four_eyes for rule in found),
        loosening_requires=frozenset(rule.loosening for rule in found) - {"publisher"},
        note_required=any(rule.note_required for rule in found),
        comments_resolved=any(rule.comments_resolved for rule in found),
        held_requires_review=any(rule.held_requires_review for rule in found),
    )


def find_unmet(question: PublishQuestion) -> tuple[UnmetCondition, ...]:
    """What the conditions of the installed features miss."""
    functions = [import_string(path) for feature in installed_features() for path in feature.publish_conditions]
    return tuple(one for function in functions for one in function(question))


def skill_groups_of(*capabilities: dict[str, Any]) -> frozenset[str]:
    """The groups of a capability as it is and as it will be: a rule cannot be avoided by leaving the group."""
    named = [one.get("skill_groups") for one in capabilities]
    return frozenset(
        group for groups in named if isinstance(groups, list) for group in groups if isinstance(group, str)
    )


def check_rule(report: Report, changes: Sequence[Change], terms: PublishConditions) -> Iterator[Finding]:
    """What blocks this publish, as errors; nothing under the default rule."""
    rule = terms.rule
    loosened = next((change.words for change in changes if change.effect == "loosens"), "")
    if rule.note_required and terms.note is not None and not terms.note.strip():
        yield _finding(report, "NOTE_REQUIRED", "Publishing needs a note here", "Say why, in a sentence.")
    if loosened and "admin" in rule.loosening_requires and not terms.can_loosen:
        message = f"{loosened}, and only an admin may publish a looser policy here"
        yield _finding(report, "LOOSENING_NOT_ALLOWED", message, "Ask an admin to publish it, or put the policy back.")
    if rule.comments_resolved and terms.open_comments:
        yield _finding(
            report, "COMMENTS_OPEN", describe_open_threads(terms.open_comments), "Resolve them in the review."
        )
    for tool in () if terms.previously_published else terms.missing_scanners:
        message = f"There are no results of {tool} for these texts"
        yield _finding(report, "SCAN_MISSING", message, "Scan them, and upload the results: bundle scan-results.", tool)
    for unmet in () if terms.previously_published else terms.unmet:
        yield _finding(report, unmet.code, unmet.message, unmet.hint, unmet.subject)
    if not terms.approved_by and (asked := _why_second_person(report, loosened, terms)):
        yield _finding(report, "APPROVAL_REQUIRED", *asked)


def check_retirement(report: Report, terms: PublishConditions) -> Iterator[Finding]:
    """That it is retired, which a person may undo by publishing and nothing may that happens by itself."""
    if terms.was_retired and not terms.previously_published:
        words, hint = "It is retired, and publishing gives it back to agents", "Leave it, unless that is intended."
        severity: Severity = "error" if terms.by_itself else "warning"
        yield _finding(report, "WAS_RETIRED", words, hint, severity=severity)


def _why_second_person(report: Report, loosened: str, terms: PublishConditions) -> tuple[str, str] | None:
    """Why a second person must approve, and what to do; None where nobody must. `loosened` says what is looser."""
    rule, ask = terms.rule, "Ask for a review in the Studio."
    if rule.four_eyes and not terms.previously_published:
        return "A second person must approve these texts before they are published", ask
    if rule.held_requires_review and terms.decides_held and any(one.held or one.accepted for one in report.findings):
        return "The security checks doubt a passage of these texts, so a second person must approve them", ask
    if loosened and "second_person" in rule.loosening_requires:
        words = f"{loosened}, and a second person must approve a looser policy"
        return words, "Ask for a review of these texts as a draft in the Studio."
    return None


def describe_open_threads(count: int) -> str:
    """How many comments are open, in a sentence."""
    return "1 comment of the review is open" if count == 1 else f"{count} comments of the review are open"


def _finding(
    report: Report, code: str, message: str, hint: str, subject: str = "", *, severity: Severity = "error"
) -> Finding:
    has_text = FILE in report.files
    return Finding(code, severity, FILE, "", 1 if has_text else None, 1 if has_text else None, message, hint, subject)


def set_rule(
    *,
    group_id: str,
    four_eyes: bool,
    loosening: str,
    note_required: bool,
    comments_resolved: bool = False,
    held_requires_review: bool = False,
    by: Actor,
) -> ReleaseRule:
    """Make or change the rule of a group, or of the registry where `group_id` is empty. Raises `InvalidRequest`."""
    if group_id and not is_capability_id(group_id):
        raise InvalidRequest(f"'{group_id[:80]}' is not a valid group id: use lower-case words joined by _")
    if loosening not in LOOSENING_CHOICES:
        raise InvalidRequest(f"loosening is one of {', '.join(LOOSENING_CHOICES)}; found '{loosening[:80]}'")
    values = {
        "four_eyes": four_eyes,
        "loosening": loosening,
        "note_required": note_required,
        "comments_resolved": comments_resolved,
        "held_requires_review": held_requires_review,
    }
    with write_transaction():
        known = ReleaseRule.objects.filter(group_id=group_id).first()
        if known is not None and all(getattr(known, name) == value for name, value in values.items()):
            return known
        rule = known or ReleaseRule(group_id=group_id)
        was = _values(known)
        for name, value in values.items():
            setattr(rule, name, value)
        rule.updated_by = str(by)
        rule.save()
        # A group may be called `registry` too.
        detail = {"group_id": group_id, **values, **audit.changed(was, values)}
        audit.record(by=by, verb="release_rule.set", subject=group_id or "registry", detail=detail)
    return rule


def _values(rule: ReleaseRule | None) -> dict[str, Any]:
    """What the audit log keeps of a rule."""
    return {column: getattr(rule, column) for column in RULE_COLUMNS} if rule is not None else {}


def delete_rule(*, group_id: str, by: Actor) -> None:
    """Delete a group's rule; the registry's still applies. Raises `NotFound`."""
    with write_transaction():
        missing = NotFound(f"There is no rule for '{group_id or 'registry'}'")
        rule = get_row(ReleaseRule.objects.filter(group_id=group_id), missing)
        detail = {"group_id": group_id, **audit.changed(_values(rule), {})}
        rule.delete()
        audit.record(by=by, verb="release_rule.drop", subject=group_id or "registry", detail=detail)


def list_rules() -> tuple[ReleaseRule, list[ReleaseRule]]:
    """The registry's rule, the default where none is set, and those of groups by id."""
    found = {rule.group_id: rule for rule in ReleaseRule.objects.all()}
    return found.pop("", ReleaseRule()), sorted(found.values(), key=lambda rule: rule.group_id)


def list_groups_without_rule() -> list[str]:
    """The ids of described groups that have no rule of their own."""
    with_rule = ReleaseRule.objects.values("group_id")
    return list(
        SkillGroup.objects.exclude(group_id__in=with_rule).order_by("group_id").values_list("group_id", flat=True)
    )
