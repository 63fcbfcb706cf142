"""The rows of tools and their arguments in the form of a new capability: read from the submitted data, with errors.

Fields are `tool-0-name`, `tool-0-does`, `tool-0-kind`, `tool-0-form`, and of its arguments `tool-0-arg-0-name`,
`-kind`, `-meaning`, `-choices`, `-required`. A button named `step` changes the rows without a script: `add-tool`,
`drop-tool-0`, `add-arg-0`, `drop-arg-0-1`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from registry.authoring.capability_creation import ARGUMENT_KINDS, ARGUMENTS_MAX, TOOLS_MAX

ARGUMENT_LABELS: Final = {
    "text": gettext_lazy("Text"),
    "long text": gettext_lazy("Long text"),
    "number": gettext_lazy("Number"),
    "whole number": gettext_lazy("Integer"),
    "yes or no": gettext_lazy("Yes/No"),
    "date": gettext_lazy("Date"),
    "list of texts": gettext_lazy("List of strings"),
    "choice": gettext_lazy("Select"),
}
# Each kind of an argument with what the form calls it.
ARGUMENT_CHOICES: Final = [(kind, ARGUMENT_LABELS[kind]) for kind in ARGUMENT_KINDS]
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
# Words with blanks between them, or one with a capital first; a capital inside a word may be part of its name.
_SPOKEN: Final = re.compile(r"[A-Za-z][a-z0-9]*(?:[ -]+[A-Za-z0-9][a-z0-9]*)*")
_NAME_WORDS: Final = gettext_lazy("Use lowercase letters and digits, joined by underscores, e.g. order_find.")


@dataclass
class ArgumentRow:
    """`number` is its place in the names of its fields; `choices` are what a choice can be."""

    number: int
    name: str = ""
    kind: str = ARGUMENT_KINDS[0]
    meaning: str = ""
    choices: tuple[str, ...] = ()
    is_required: bool = False
    is_new: bool = False

    @property
    def number_text(self) -> str:
        """For the names of its fields."""
        return str(self.number)

    @property
    def is_empty(self) -> bool:
        return not (self.name or self.meaning or self.choices)


@dataclass
class ToolRow:
    """`faults` are sentences to show with it; `is_new` marks what was added just now and takes the focus."""

    number: int
    name: str = ""
    does: str = ""
    kind: str = "read"
    has_form: bool = False
    is_new: bool = False
    arguments: list[ArgumentRow] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @property
    def number_text(self) -> str:
        """For the names of its fields."""
        return str(self.number)

    @property
    def given(self) -> list[ArgumentRow]:
        return [each for each in self.arguments if not each.is_empty]

    @property
    def is_empty(self) -> bool:
        return not (self.name or self.does or self.given)


def read_tool_rows(sent: QueryDict) -> list[ToolRow]:
    """The rows as the page shows them next; where no row was asked for, those without a word are left out."""
    step = sent.get("step", "")
    rows = [_row(sent, number) for number in range(TOOLS_MAX) if f"tool-{number}-name" in sent]
    rows = _stepped(rows, step) if step else [row for row in rows if not row.is_empty]
    for number, row in enumerate(rows):
        row.number = number
        for place, argument in enumerate(row.arguments):
            argument.number = place
    if not step:
        _find_faults(rows)
    return rows


def _row(sent: QueryDict, number: int) -> ToolRow:
    key = f"tool-{number}"
    arguments = [
        _argument(sent, f"{key}-arg-{place}", place)
        for place in range(ARGUMENTS_MAX)
        if f"{key}-arg-{place}-name" in sent
    ]
    kind = "write" if sent.get(f"{key}-kind") == "write" else "read"
    has_form = bool(sent.get(f"{key}-form"))
    return ToolRow(
        number, _name(sent, f"{key}-name"), _line(sent, f"{key}-does", 500), kind, has_form, arguments=arguments
    )


def _argument(sent: QueryDict, key: str, place: int) -> ArgumentRow:
    kind = sent.get(f"{key}-kind", "")
    choices = dict.fromkeys(part.strip() for part in _line(sent, f"{key}-choices", 1000).split(",") if part.strip())
    return ArgumentRow(
        place,
        _name(sent, f"{key}-name"),
        kind if kind in ARGUMENT_KINDS else ARGUMENT_KINDS[0],
        _line(sent, f"{key}-meaning", 300),
        tuple(choices),
        bool(sent.get(f"{key}-required")),
    )


def _name(sent: QueryDict, field_name: str) -> str:
    """As it was typed; what somebody writes as words becomes the name that they mean: "Find desks", "find_desks"."""
    typed = _line(sent, field_name, 64)
    return re.sub(r"[ -]+", "_", typed).lower() if _SPOKEN.fullmatch(typed) else typed


def _line(sent: QueryDict, name: str, most: int) -> str:
    return " ".join(sent.get(name, "").replace("\0", "").split())[:most]


def _stepped(rows: list[ToolRow], step: str) -> list[ToolRow]:
    words = step.split("-")
    numbers = [int(word) for word in words[2:] if word.isdecimal() and len(word) < 4]
    if words[:2] == ["add", "tool"] and len(rows) < TOOLS_MAX:
        return [*rows, ToolRow(0, is_new=True, arguments=[ArgumentRow(0)])]
    row = next((each for each in rows if numbers and each.number == numbers[0]), None)
    if row is None:
        return rows
    if words[:2] == ["drop", "tool"]:
        return [each for each in rows if each is not row]
    if words[:2] == ["add", "arg"] and len(row.arguments) < ARGUMENTS_MAX:
        row.arguments.append(ArgumentRow(0, is_new=True))
    if words[:2] == ["drop", "arg"] and len(numbers) == 2:
        row.arguments = [each for each in row.arguments if each.number != numbers[1]]
    return rows


def _find_faults(rows: list[ToolRow]) -> None:
    taken: set[str] = set()
    for row in rows:
        if not _NAME.fullmatch(row.name):
            row.faults.append(_("Tool name: %(rule)s") % {"rule": _NAME_WORDS})
        elif row.name in taken:
            row.faults.append(_("Duplicate tool name: %(name)s.") % {"name": row.name})
        if not row.does:
            row.faults.append(_("Add a description, so that agents know when to call it."))
        taken.add(row.name)
        row.faults += _argument_faults(row)


def _argument_faults(row: ToolRow) -> list[str]:
    found, taken = [], set[str]()
    for each in row.given:
        if not _NAME.fullmatch(each.name):
            found.append(_("Argument %(name)s: %(rule)s") % {"name": each.name or each.number + 1, "rule": _NAME_WORDS})
        elif each.name in taken:
            found.append(_("Duplicate argument: %(name)s.") % {"name": each.name})
        if each.kind == "choice" and not each.choices:
            found.append(_("%(name)s: add options, separated by commas.") % {"name": each.name})
        taken.add(each.name)
    return found
