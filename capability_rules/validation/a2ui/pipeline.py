"""The whole of docs/ui-schemas.md 6 over one ui_schemas.json: which checks run, in which order, and where they stop.

An entry goes through the groups in turn. Shape, components and topology each need the one before, so that an error ends
the entry there; bindings and actions are independent of each other and both run. Whatever the file has, the work is
bounded: see `limits`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from capability_kit.json_text import as_mapping
from capability_rules.bundles.problem import RawFinding
from capability_rules.validation.a2ui import entry_schema, limits, reference_validator
from capability_rules.validation.a2ui.actions import check_actions, tools_by_name
from capability_rules.validation.a2ui.arguments import Arguments
from capability_rules.validation.a2ui.bindings import check_bindings
from capability_rules.validation.a2ui.budget import Budget, build_finding, json_type, quote_value
from capability_rules.validation.a2ui.choices import check_choices
from capability_rules.validation.a2ui.components import check_components
from capability_rules.validation.a2ui.entry import check_entry, check_inner_limits
from capability_rules.validation.a2ui.references import check_is_referenced, ids_named_by_tools
from capability_rules.validation.a2ui.scopes import iterate_components
from capability_rules.validation.a2ui.surface import Surface, read_surface
from capability_rules.validation.a2ui.tree import check_topology
from capability_rules.validation.codes import severity_by_code


def check_ui_schemas(
    ui_schemas: object,
    tools: object,
    *,
    mentioned_schema_ids: frozenset[str] | set[str],
    map_form: bool = False,
) -> list[RawFinding]:
    """Check every UI schema of a bundle; the problems are all in ui_schemas.json.

    `ui_schemas` is the parsed document, normalized to a list of entries, or whatever the author wrote in its place;
    `tools` is the parsed, normalized tools.json. `mentioned_schema_ids` are the ids that skill.md mentions. `map_form`
    says that the author wrote a map from schema_id to definition, which cannot have `actions`. Never raises; paths are
    those of the normalized list.
    """
    if not isinstance(ui_schemas, list):
        message = f"expected an array of UI schemas; found {json_type(ui_schemas)}"
        hint = 'Write [{"schema_id": "...", "definition": {...}}], or [] where there are none.'
        return [build_finding("UI_FILE_NOT_ARRAY", (), message, hint)]
    work = Budget()
    run = _EntryCheck(
        work=work,
        tools=tools_by_name(tools),
        used=ids_named_by_tools(tools) | set(mentioned_schema_ids),
        arguments=Arguments(work),
        map_form=map_form,
    )
    found = list(_too_many(ui_schemas))
    for index, entry in enumerate(ui_schemas[: entry_schema.ENTRIES_MAX]):
        found += _capped(index, run.check(index, entry))
    return found


def _too_many(entries: list[Any]) -> Iterator[RawFinding]:
    if len(entries) > entry_schema.ENTRIES_MAX:
        most = entry_schema.ENTRIES_MAX
        message = f"{len(entries)} UI schemas; at most {most} are allowed, and only those were checked"
        hint = "Split the capability, or remove forms that are not used."
        yield build_finding("UI_LIMIT_EXCEEDED", (), message, hint)


def _capped(index: int, found: Iterable[RawFinding]) -> list[RawFinding]:
    problems = list(islice(found, limits.FINDINGS_PER_ENTRY_MAX + 1))
    if len(problems) <= limits.FINDINGS_PER_ENTRY_MAX:
        return problems
    message = f"this entry has more than {limits.FINDINGS_PER_ENTRY_MAX} findings; the rest is not shown"
    hint = "Fix these first, then validate again."
    more = build_finding("UI_LIMIT_EXCEEDED", (index,), message, hint, severity="warning")
    return [*problems[: limits.FINDINGS_PER_ENTRY_MAX], more]


@dataclass(slots=True)
class _EntryCheck:
    """One call of `check_ui_schemas`: what all entries share."""

    work: Budget
    tools: Mapping[str, dict[str, Any]]
    used: set[str]
    arguments: Arguments
    map_form: bool
    ids: set[str] = field(default_factory=set)

    def check(self, index: int, entry: object) -> Iterator[RawFinding]:
        yield from check_is_referenced(index, entry, self.used)
        is_odd = yield from _report(check_entry(index, entry, self.work))
        is_taken = yield from _report(self._check_is_unique(index, entry))
        if is_odd or is_taken or not isinstance(entry, dict):
            return
        surface = read_surface(index, entry, map_form=self.map_form)
        groups: tuple[Callable[[Surface], Iterator[RawFinding]], ...] = (
            check_inner_limits,
            lambda surface: check_components(surface, self.work),
            lambda surface: check_topology(surface, self.work),
            self._check_meaning,
            reference_validator.check_known_refusals,
        )
        for group in groups:
            if (yield from _report(group(surface))):
                return

    def _check_is_unique(self, index: int, entry: object) -> Iterator[RawFinding]:
        schema_id = as_mapping(entry).get("schema_id")
        if not isinstance(schema_id, str):
            return
        if schema_id in self.ids:
            message = f"an earlier entry has the schema_id {quote_value(schema_id)}, too"
            hint = "Give each entry an id of its own."
            yield build_finding("UI_SCHEMA_ID_DUPLICATE", (index, "schema_id"), message, hint)
        self.ids.add(schema_id)

    def _check_meaning(self, surface: Surface) -> Iterator[RawFinding]:
        """Groups 4 and 5: both run, for neither needs the other to be sound."""
        seen = list(iterate_components(surface, self.work))
        yield from check_actions(surface, seen, self.tools, self.arguments, self.work)
        yield from check_choices(surface, seen, self.tools, self.arguments)
        yield from check_bindings(surface, seen, self.work, self.arguments.refused)
        if self.work.steps_left < 0:
            message = "the sample data of this file's lists is too large to be checked in full"
            hint = "Keep one to three short sample items in each list."
            yield build_finding("UI_LIMIT_EXCEEDED", surface.path, message, hint)


def _report(found: Iterable[RawFinding]) -> Generator[RawFinding, None, bool]:
    """Yields them; returns whether there was an error among them."""
    has_error = False
    for each in found:
        has_error = has_error or (each.severity or severity_by_code()[each.code]) == "error"
        yield each
    return has_error
