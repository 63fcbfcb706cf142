"""Tool contracts: names, policies, schemas, and what model vendors would not take (docs/contract.md 1.3)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from capability_kit.json_schema.graph import SchemaGraph
from capability_rules.bundles.deadline import NEVER, Deadline
from capability_rules.bundles.problem import EXAMINED_MAX, FileName, Path, RawFinding, collect_findings
from capability_rules.bundles.validation_context import ValidationContext
from capability_rules.bundles.vendor_tools import convert_tools, find_vendor
from capability_rules.validation.rules.json_schema import check_shape
from capability_rules.validation.rules.tool_defaults import find_invalid_defaults
from capability_rules.validation.rules.tool_patterns import Patterns
from capability_rules.validation.rules.tool_schemas import check_schema, check_slips
from capability_rules.validation.rules.vendor_limits import check_vendor_limits

FILE: Final[FileName] = "tools.json"
SNAKE_CASE: Final = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")


def check_tools(tools: list[Any], deadline: Deadline = NEVER) -> list[RawFinding]:
    """Everything about tools.json that needs no other file; `tools` is the normalized list.

    Raises `DeadlineExceeded` where the deadline is over between two steps.
    """
    problems: list[RawFinding] = list(_check_forms(tools))
    patterns = Patterns(deadline)
    misshapen = 0
    for index, tool in enumerate(tools):
        deadline.check()
        if find_vendor(tool):
            # Said once for all of them; what it lacks as a contract is not news.
            continue
        shape = list(_check_shape(tool, (index,)))
        misshapen += any(problem.code != "FIELD_UNKNOWN" for problem in shape)
        if misshapen > EXAMINED_MAX:
            # A list of half a million numbers is not a list of tools: it is refused, and the rest is not read.
            problems += [replace(problem, more_follow=True) for problem in shape]
            break
        problems += shape
        if isinstance(tool, dict):
            problems += _check_name_style(tool, index)
            problems += _check_policy(tool, index)
            problems += _check_schemas(tool, index, patterns)
    return [*problems, *_check_duplicates(tools)]


def _check_forms(tools: list[Any]) -> Iterator[RawFinding]:
    """One finding for all tools in the form of a vendor, with what a conversion of them would leave out."""
    first = next((index for index, tool in enumerate(tools) if find_vendor(tool)), None)
    converted = convert_tools(tools) if first is not None else None
    if first is None or converted is None:
        return
    count = sum(bool(find_vendor(tool)) for tool in tools)
    which = (
        "The tool is"
        if len(tools) == 1
        else f"{count} of {len(tools)} tools are"
        if count < len(tools)
        else (f"The {count} tools are")
    )
    vendors = " and ".join(converted.vendors)
    message = f"{which} in the form of {vendors}, not contracts"
    hint = " ".join(["Convert them; an import does it by itself.", *converted.losses])
    yield RawFinding("TOOL_FORM_OTHER", FILE, (first,), message, hint, subject=vendors)


def _check_shape(tool: Any, path: Path) -> Iterator[RawFinding]:
    name = tool.get("name") if isinstance(tool, dict) else None
    for problem in check_shape(FILE, tool, schema="tools", definition="tool", at=path):
        if isinstance(name, str) and problem.code == "FIELD_MISSING":
            yield replace(problem, message=f"{problem.message} in tool '{name[:64]}'")
        else:
            yield problem


def _check_name_style(tool: dict[str, Any], index: int) -> Iterator[RawFinding]:
    name = tool.get("name")
    valid = isinstance(name, str) and re.fullmatch(r"[a-zA-Z][a-zA-Z0-9_-]{0,63}", name)
    if isinstance(name, str) and valid and not SNAKE_CASE.fullmatch(name):
        hint = f"By custom: {_snake(name)}"
        yield RawFinding("TOOL_NAME_STYLE", FILE, (index, "name"), f"The name '{name}' is not snake_case", hint)


def _snake(name: str) -> str:
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_").lower()
    return re.sub(r"_+", "_", words).strip("_")


def _check_duplicates(tools: list[Any]) -> Iterator[RawFinding]:
    seen: set[str] = set()
    for index, tool in enumerate(tools):
        name = tool.get("name") if isinstance(tool, dict) else None
        if not isinstance(name, str):
            continue
        if name in seen:
            message = f"The tool name '{name[:64]}' appears twice in this bundle"
            yield RawFinding("TOOL_NAME_DUPLICATE", FILE, (index, "name"), message, "Give one of the two another name.")
        seen.add(name)


def check_collisions(tools: list[Any], published: ValidationContext, capability_id: object) -> list[RawFinding]:
    """Tool names that another published capability has; nothing where the bundle does not say which it is."""
    if not isinstance(capability_id, str):
        return []
    names = [tool.get("name") if isinstance(tool, dict) else None for tool in tools]
    owners = published.owners_of({name for name in names if isinstance(name, str)}) if names else {}
    problems = []
    for index, name in enumerate(names):
        owner = owners.get(name) if isinstance(name, str) else None
        if owner is not None and owner != capability_id:
            whose = f"the capability '{owner}'" if owner else "another capability"
            message = f"The tool name '{name}' belongs to {whose}"
            hint = f"Tool names are unique in the registry. Begin yours with the capability: {capability_id}_{name}."
            problems.append(RawFinding("TOOL_NAME_COLLISION", FILE, (index, "name"), message, hint))
    return problems


def _check_policy(tool: dict[str, Any], index: int) -> Iterator[RawFinding]:
    policy = tool.get("policy")
    if isinstance(policy, dict) and policy.get("kind") == "write" and "requires_approval" not in policy:
        message = f"The write tool '{str(tool.get('name'))[:64]}' does not say whether a person must approve it"
        hint = 'Add "requires_approval": true (or false, if a call can do no harm).'
        yield RawFinding("TOOL_APPROVAL_UNSET", FILE, (index, "policy"), message, hint, subject="requires_approval")


def _check_schemas(tool: dict[str, Any], index: int, patterns: Patterns) -> list[RawFinding]:
    problems: list[RawFinding] = []
    for key in ("args_schema", "result_schema"):
        if key not in tool:
            continue
        path: Path = (index, key)
        found, graph = check_schema(tool[key], path, patterns)
        problems += found
        if graph is not None:
            problems += collect_findings(check_slips(graph, path), _check_defaults(graph, path, patterns))
        if key == "args_schema" and isinstance(tool[key], dict):
            problems += _check_arguments(tool[key], graph, path)
    return problems


def _check_arguments(schema: dict[str, Any], graph: SchemaGraph | None, path: Path) -> Iterator[RawFinding]:
    if schema.get("type") != "object":
        found = repr(schema["type"])[:60] if "type" in schema else "nothing"
        message = f'args_schema must have "type": "object", found {found}'
        place = (*path, "type") if "type" in schema else path
        yield RawFinding("TOOL_SCHEMA_INVALID", FILE, place, message, 'Write "type": "object".')
    properties = schema.get("properties")
    if isinstance(properties, dict) and "user_id" in properties:
        message = "user_id is among the arguments"
        hint = "Remove it: the runtime knows the user and sets it itself."
        yield RawFinding("TOOL_USER_ID_ARGUMENT", FILE, (*path, "properties", "user_id"), message, hint, at_key=True)
    if graph is not None:
        yield from collect_findings(_check_descriptions(graph, path), check_vendor_limits(graph, path))


def _check_descriptions(graph: SchemaGraph, path: Path) -> Iterator[RawFinding]:
    for node in graph.nodes:
        name = node.path[-1] if node.path[-2:-1] == ("properties",) else None
        if isinstance(name, str) and "description" not in node.schema and "$ref" not in node.schema:
            message = f"The property '{name[:64]}' has no description"
            hint = "Say what it means, with the unit and an example: the agent reads it."
            code, place = "TOOL_PROPERTY_UNDESCRIBED", (*path, *node.path)
            yield RawFinding(code, FILE, place, message, hint, at_key=True, subject="description")


def _check_defaults(graph: SchemaGraph, path: Path, patterns: Patterns) -> Iterator[RawFinding]:
    for node, reason in find_invalid_defaults(graph, patterns):
        place = (*path, *node.path, "default")
        message = f"The default is refused by its own schema: {reason}"
        yield RawFinding("TOOL_DEFAULT_INVALID", FILE, place, message, "Correct one of the two.")
