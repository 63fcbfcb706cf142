"""What stands between a draft and its release: the list that begins the pages for publishing and review."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from registry.publishing.gate import GateReport
from registry.publishing.publish_context import PublishContext

# Asked only by the Studio's form: to the gate it is a warning, and a pipeline publishes with it.
PLACEHOLDER = "PLACEHOLDER_LEFT"
# A question of policy is not an error in the texts: the page shows it, with who can answer it.
_QUESTION_WORDS = {
    "POLICY_LOOSENED": gettext_lazy("This release is less restrictive. A publisher must confirm it."),
    "LOOSENING_NOT_ALLOWED": gettext_lazy("This release is less restrictive. Only admins can publish it."),
    "APPROVAL_REQUIRED": gettext_lazy(
        "Needs approval from someone else: a publisher or an admin who didn't edit this version."
    ),
    "COMMENTS_OPEN": gettext_lazy("Resolve all review comments before publishing."),
    "NOTE_REQUIRED": gettext_lazy("A release note is required."),
    "SEC_HELD": gettext_lazy("The security checks aren't sure about some passages. A person has to decide about them."),
    "SCAN_MISSING": gettext_lazy("A required scanner hasn't looked at this version. Scan it and upload the results."),
}

StepKind = Literal["texts", "review", "comments", "question", "confirmation"]


@dataclass(frozen=True, slots=True)
class ReleaseStep:
    """One thing to settle; `code` is the policy question, or what a tick in the form acknowledges."""

    kind: StepKind
    words: str
    is_done: bool = False
    code: str = ""


@dataclass(frozen=True, slots=True)
class ReleaseSteps:
    """The steps in their order."""

    steps: Sequence[ReleaseStep]

    @property
    def done(self) -> int:
        """How many are settled."""
        return sum(step.is_done for step in self.steps)

    @property
    def are_done(self) -> bool:
        """Whether nothing is left to settle."""
        return self.done == len(self.steps)


def list_release_steps(
    gate: GateReport,
    *,
    errors: int,
    questions: Iterable[str],
    to_confirm: Iterable[str],
    standing: PublishContext | None = None,
    has_placeholders: bool = False,
) -> ReleaseSteps:
    """Return what is settled and what is not, for somebody who may confirm `to_confirm`.

    `standing` is what the registry knows of the draft beside its texts; a page that shows no draft has none.
    """
    asked = tuple(questions)
    steps = [_texts_step(gate, errors), *_review_steps(standing, asked)]
    steps += [ReleaseStep("question", str(_QUESTION_WORDS[code]), code=code) for code in asked]
    steps += [
        ReleaseStep(
            "confirmation",
            _("I understand that this release is less restrictive, as listed under What changes."),
            code=code,
        )
        for code in to_confirm
    ]
    if has_placeholders:
        words = _("Publish with the placeholder text listed under Issues.")
        steps.append(ReleaseStep("confirmation", words, code=PLACEHOLDER))
    return ReleaseSteps(steps)


def _texts_step(gate: GateReport, errors: int) -> ReleaseStep:
    if errors:
        words = ngettext("Fix %(number)s error.", "Fix %(number)s errors.", errors)
        return ReleaseStep("texts", words % {"number": errors})
    warnings = sum(finding.is_warning for finding in gate.text_findings)
    if not warnings:
        return ReleaseStep("texts", _("No issues."), is_done=True)
    words = ngettext("No errors, %(number)s warning.", "No errors, %(number)s warnings.", warnings)
    return ReleaseStep("texts", words % {"number": warnings}, is_done=True)


def _review_steps(standing: PublishContext | None, asked: Sequence[str]) -> list[ReleaseStep]:
    """Where the review is, and its comments that nobody has resolved."""
    if standing is None or standing.review is None:
        return []
    is_approved = standing.review_is_current and standing.review.state == "approved"
    steps = [ReleaseStep("review", "", is_done=is_approved)]
    if standing.open_comments and "COMMENTS_OPEN" not in asked:
        steps.append(ReleaseStep("comments", ""))
    return steps
