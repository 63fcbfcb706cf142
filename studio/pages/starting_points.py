"""What a new capability can begin with: the cards of the page, and what each writes into the guided form."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from registry.core.queries import get_validation_context
from studio.pages.tool_formset import ArgumentRow, ToolRow


@dataclass(frozen=True, slots=True)
class StartingPoint:
    """A card: `tone` is that of its icon, `badges` say what it writes, `profile` and `tools` are what it writes."""

    key: str
    label: str | Promise
    about: str | Promise
    icon: str
    tone: str
    badges: tuple[str | Promise, ...]
    profile: str = "capability"
    tools: tuple[ToolRow, ...] = ()


_RECORD: Final = ArgumentRow(0, "number", "text", "As people write it", is_required=True)
STARTING_POINTS: Final = (
    StartingPoint(
        "lookup", gettext_lazy("Look something up"),
        gettext_lazy("Answers questions from your systems. Read tools only."), "search", "info",
        (gettext_lazy("2 read tools"), gettext_lazy("No approval")),
        tools=(
            ToolRow(0, "record_find", "Finds a record by its number", arguments=[_RECORD]),
            ToolRow(
                1, "record_search", "Finds records by words",
                arguments=[ArgumentRow(0, "words", "text", "What to look for", is_required=True)],
            ),
        ),
    ),
    StartingPoint(
        "log", gettext_lazy("Log something"),
        gettext_lazy("Saves what the user says, with a form to check it first."), "notebook-pen", "accent",
        (gettext_lazy("1 write tool"), gettext_lazy("1 form")),
        tools=(
            ToolRow(
                0, "entry_save", "Saves an entry", "write", has_form=True,
                arguments=[
                    ArgumentRow(0, "day", "date", "When it was", is_required=True),
                    ArgumentRow(1, "amount", "number", "How much", is_required=True),
                    ArgumentRow(2, "note", "long text", "Anything else"),
                ],
            ),
        ),
    ),
    StartingPoint(
        "request", gettext_lazy("Request with approval"),
        gettext_lazy("Collects a request and waits until a person approves it."), "shield-check", "success",
        (gettext_lazy("1 write tool"), gettext_lazy("Approval required")),
        tools=(
            ToolRow(
                0, "request_create", "Creates a request", "write", has_form=True,
                arguments=[
                    ArgumentRow(0, "first_day", "date", "When it begins", is_required=True),
                    ArgumentRow(1, "last_day", "date", "When it ends", is_required=True),
                    ArgumentRow(2, "reason", "long text", "What it is for"),
                ],
            ),
        ),
    ),
    StartingPoint(
        "playbook", gettext_lazy("Playbook"),
        gettext_lazy("Steps the agent follows in a conversation, without tools."), "book-open-text", "plan",
        (gettext_lazy("Instructions only"),), "playbook",
    ),
    StartingPoint(
        "runbook", gettext_lazy("Runbook"),
        gettext_lazy("Diagnose first, then change something, with checks between."), "terminal", "warning",
        (gettext_lazy("Read and write tools"),), "runbook",
        (
            ToolRow(
                0, "service_status", "Reads the status of a service",
                arguments=[ArgumentRow(0, "service", "text", "Its name", is_required=True)],
            ),
            ToolRow(
                1, "service_restart", "Restarts a service", "write",
                arguments=[ArgumentRow(0, "service", "text", "Its name", is_required=True)],
            ),
        ),
    ),
)  # fmt: skip


def find_starting_point(key: str) -> StartingPoint | None:
    """The one that a link names."""
    return next((one for one in STARTING_POINTS if one.key == key), None)


def build_tool_rows(point: StartingPoint) -> list[ToolRow]:
    """Its tools, under names that no other capability has."""
    taken = get_validation_context().tool_owners
    return [
        replace(
            row,
            name=next(name for name in _names(row.name, len(taken)) if name not in taken),
            arguments=[replace(one) for one in row.arguments],
            faults=[],
        )
        for row in point.tools
    ]


def _names(name: str, most: int) -> list[str]:
    return [name, *(f"{name}_{number}" for number in range(2, most + 3))]
