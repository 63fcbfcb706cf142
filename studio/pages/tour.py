"""The first-run tour: a list of steps on Home. What was looked at, and whether it was left, is kept with the account;
what was written is known from the audit log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from registry.access import operators
from registry.selectors.onboarding import completed_steps
from studio.pages.navigation import MAY, Right, find_url
from studio.pages.permissions import StudioRequest, actor_of

_LEFT: Final = "left"


@dataclass(frozen=True, slots=True)
class TourStep:
    """`url_name` with `arguments` is where it is done; `is_looked_at` says that opening the page is all there is."""

    key: str
    label: str | Promise
    words: str | Promise
    url_name: str
    right: Right = "read"
    is_looked_at: bool = False


STEPS: Final = (
    TourStep("sign_in", gettext_lazy("Sign in"), gettext_lazy("Done"), "studio:home", is_looked_at=True),
    TourStep(
        "example", gettext_lazy("Explore an example"),
        gettext_lazy("Open a ready-made capability and see what agents get."),
        "studio:capability_list", is_looked_at=True,
    ),
    TourStep(
        "playground", gettext_lazy("Try the playground"),
        gettext_lazy("Type a message and see which capability matches, and why."),
        "studio:playground_show", is_looked_at=True,
    ),
    TourStep(
        "make", gettext_lazy("Create a capability"),
        gettext_lazy("Start from a complete draft. Agents won't see it until you publish."),
        "studio:capability_new", "edit",
    ),
    TourStep(
        "publish", gettext_lazy("Publish"),
        gettext_lazy("Check what changes, then go live instantly. No deploy needed."),
        "studio:capability_list", "publish",
    ),
    TourStep(
        "key", gettext_lazy("Create an API key"),
        gettext_lazy("Connect your first agent."), "studio:agent_key_list", "administer",
    ),
)  # fmt: skip
VISITED: Final = {step.key: step for step in STEPS if step.is_looked_at}


@dataclass(frozen=True, slots=True)
class Tour:
    """The steps that a person's role has, each with whether it is done."""

    steps: Sequence[tuple[TourStep, bool]]

    @property
    def done(self) -> int:
        """The number of steps that are done."""
        return sum(is_done for _, is_done in self.steps)

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do."""
        return self.done == len(self.steps)


def get_tour(request: StudioRequest) -> Tour | None:
    """None where this person has left it."""
    marks = _marks(request)
    if _LEFT in marks:
        return None
    done = marks | {"sign_in"} | completed_steps(by=actor_of(request))
    steps = (step for step in STEPS if MAY[step.right](request.user) and find_url(step.url_name))
    return Tour([(step, step.key in done) for step in steps])


def is_to_visit(request: StudioRequest, key: str) -> bool:
    """Whether opening the page of this step would be news."""
    return not _marks(request) & {key, _LEFT}


def mark_visited(request: StudioRequest, key: str) -> None:
    """Note that a page of the tour was opened."""
    operators.set_tour_marks(request.user, _marks(request) | {key})


def hide_tour(request: StudioRequest) -> None:
    """Hide the tour until the operator asks for it again."""
    operators.set_tour_marks(request.user, _marks(request) | {_LEFT})


def show_tour(request: StudioRequest) -> None:
    """Show it again, with what was looked at."""
    operators.set_tour_marks(request.user, _marks(request) - {_LEFT})


def _marks(request: StudioRequest) -> frozenset[str]:
    return frozenset(request.user.tour_marks.split(".")) & {_LEFT, *VISITED}
