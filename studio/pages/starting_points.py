"""What a new capability can begin with: the cards of the page, and what each writes into the guided form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, count
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from registry.core.published_index import get_validation_context
from studio.pages.tool_formset import ArgumentRow, ToolRow


def _argument(number: int, name: str, kind: str, meaning: str, *, is_required: bool = True) -> ArgumentRow:
    return ArgumentRow(number, name, kind, meaning, is_required=is_required)


def _lookup_tools() -> list[ToolRow]:
    number = _argument(0, "number", "text", _("As people write it"))
    words = _argument(0, "words", "text", _("What to look for"))
    return [
        ToolRow(0, "record_find", _("Finds a record by its number"), arguments=[number]),
        ToolRow(1, "record_search", _("Finds records by words"), arguments=[words]),
    ]


def _log_tools() -> list[ToolRow]:
    arguments = [
        _argument(0, "day", "date", _("When it was")),
        _argument(1, "amount", "number", _("How much")),
        _argument(2, "note", "long text", _("Anything else"), is_required=False),
    ]
    return [ToolRow(0, "entry_save", _("Saves an entry"), "write", has_form=True, arguments=arguments)]


def _request_tools() -> list[ToolRow]:
    arguments = [
        _argument(0, "first_day", "date", _("When it begins")),
        _argument(1, "last_day", "date", _("When it ends")),
        _argument(2, "reason", "long text", _("What it is for"), is_required=False),
    ]
    return [ToolRow(0, "request_create", _("Creates a request"), "write", has_form=True, arguments=arguments)]


def _runbook_tools() -> list[ToolRow]:
    return [
        ToolRow(number, name, does, kind, arguments=[_argument(0, "service", "text", _("The name of the service"))])
        for number, (name, does, kind) in enumerate(
            (
                ("service_status", _("Reads the status of a service"), "read"),
                ("service_restart", _("Restarts a service"), "write"),
            )
        )
    ]


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
    tools: Callable[[], list[ToolRow]] = list


STARTING_POINTS: Final = (
    StartingPoint(
        "lookup",
        gettext_lazy("Look something up"),
        gettext_lazy("Answers questions from your systems. Read tools only."),
        "search",
        "info",
        (gettext_lazy("2 read tools"), gettext_lazy("No approval")),
        tools=_lookup_tools,
    ),
    StartingPoint(
        "log",
        gettext_lazy("Log something"),
        gettext_lazy("Saves what the user says, with a form to check it first."),
        "notebook-pen",
        "accent",
        (gettext_lazy("1 write tool"), gettext_lazy("1 form")),
        tools=_log_tools,
    ),
    StartingPoint(
        "request",
        gettext_lazy("Request with approval"),
        gettext_lazy("Collects a request and waits until a person approves it."),
        "shield-check",
        "success",
        (gettext_lazy("1 write tool"), gettext_lazy("Approval required")),
        tools=_request_tools,
    ),
    StartingPoint(
        "playbook",
        gettext_lazy("Playbook"),
        gettext_lazy("Steps the agent follows in a conversation, without tools."),
        "book-open-text",
        "plan",
        (gettext_lazy("Instructions only"),),
        "playbook",
    ),
    StartingPoint(
        "runbook",
        gettext_lazy("Runbook"),
        gettext_lazy("Diagnose first, then change something, with checks between."),
        "terminal",
        "warning",
        (gettext_lazy("Read and write tools"),),
        "runbook",
        _runbook_tools,
    ),
)


def find_starting_point(key: str) -> StartingPoint | None:
    """The starting point that a link names."""
    return next((one for one in STARTING_POINTS if one.key == key), None)


def build_tool_rows(point: StartingPoint) -> list[ToolRow]:
    """Its tools, under names that no other capability has."""
    taken, rows = get_validation_context().tool_owners, point.tools()
    for row in rows:
        names = (f"{row.name}_{number}" for number in count(2))
        row.name = next(name for name in chain((row.name,), names) if name not in taken)
    return rows
