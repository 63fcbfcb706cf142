"""Is an author's JSON Schema sound and safe to use? (CONTRACT 1.3: `args_schema` and `result_schema`)

Everything here is evaluated by jsonschema-rs, offline and with a linear regex engine, and only after the graph of the
schema was measured. `jsonschema` would fetch references and can be kept busy for a minute by one pattern.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any, Final

import jsonschema_rs

from agent_client.schema_graph import EXPANSIONS_MAX, Node, SchemaGraph
from registry.validation.problems import FileName, Path, Problem, upto
from registry.validation.structure import meant

TOOLS: Final[FileName] = "tools.json"
DIALECTS: Final = (
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema",
    "http://json-schema.org/draft-06/schema",
    "http://json-schema.org/draft-04/schema",
)
_LINEAR: Final = jsonschema_rs.RegexOptions(size_limit=1 << 20, dfa_size_limit=1 << 20)
_BACKTRACKING: Final = jsonschema_rs.FancyRegexOptions(backtrack_limit=10_000, size_limit=1 << 20)


@cache
def _metaschema() -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator({"$ref": DIALECTS[0]}, offline=True)


def check_schema(schema: Any, path: Path) -> tuple[list[Problem], SchemaGraph | None]:
    """All faults of one schema, and its graph where it is sound enough to be used further."""
    if not isinstance(schema, dict):
        return [], None
    problems = [*_check_dialect(schema, path), *upto(_check_metaschema(schema, path))]
    graph = SchemaGraph(schema)
    problems += upto(_check_references(graph, path))
    problems += upto(_check_patterns(graph, path))
    problems += _check_size(graph, path)
    broken = any(problem.code != "TOOL_PATTERN_NOT_CHECKED" for problem in problems)
    return problems, None if broken else graph


def _invalid(path: Path, message: str, hint: str) -> Problem:
    return Problem("TOOL_SCHEMA_INVALID", TOOLS, path, message, hint)


def _check_dialect(schema: dict[str, Any], path: Path) -> Iterator[Problem]:
    dialect = schema.get("$schema")
    if (
        isinstance(dialect, str)
        and dialect.rstrip("#").replace("https://json-schema.org/draft-0", "http://json-schema.org/draft-0")
        not in DIALECTS
    ):
        message = f"The dialect {dialect[:100]!r} is not supported"
        yield _invalid((*path, "$schema"), message, f"Leave $schema out, or write {DIALECTS[0]}.")


def _check_metaschema(schema: dict[str, Any], path: Path) -> Iterator[Problem]:
    if _metaschema().is_valid(schema):
        return
    # Iterating is safe here: the schema is the metaschema, and the author's text only the instance.
    seen: set[Path] = set()
    for error in _metaschema().iter_errors(schema):
        place = tuple(error.instance_path)
        if place not in seen:
            seen.add(place)
            where = "/".join(map(str, place)) or "the schema"
            yield _invalid((*path, *place), f"{where}: {_fault(error)}", _hint(schema, place))


def _fault(error: jsonschema_rs.ValidationError) -> str:
    """The validator's words, but for the fault that nearly everybody makes."""
    place = list(error.instance_path)
    if "type" in place[-2:] and isinstance(error.instance, str):
        return f"{error.instance[:40]!r} is not a type; there are {', '.join(TYPES)}"
    return _words(error.message)


def _words(message: str) -> str:
    return message if len(message) <= 200 else message[:199] + "…"


TYPES: Final = ("string", "number", "integer", "boolean", "array", "object", "null")
_TYPE_NAMES: Final = {
    "dict": "object", "map": "object", "float": "number", "double": "number", "int": "integer", "long": "integer",
    "str": "string", "text": "string", "bool": "boolean", "list": "array", "tuple": "array", "none": "null",
    "any": "", "date": "string",
}  # fmt: skip


def _hint(schema: dict[str, Any], place: Path) -> str:
    value: Any = schema
    for step in place:
        value = value[step]
    if place and place[-1] == "type" and isinstance(value, str):
        return _type_hint(value.lower())
    if isinstance(value, str) and place and place[-1] == "required":
        return "required is a list of property names, beside properties."
    return "See JSON Schema draft 2020-12."


def _type_hint(word: str) -> str:
    name = _TYPE_NAMES.get(word, word if word in TYPES else meant(word, TYPES) or None)
    if name is None:
        return "Write one of these."
    return f'Write "{name}".' if name else "Leave the type out: then any value is allowed."


def _check_references(graph: SchemaGraph, path: Path) -> Iterator[Problem]:
    for bad in graph.bad_references:
        reference = bad.reference
        place = (*path, *reference.path)
        if bad.external:
            message = f"{reference.keyword} leads out of the document: {reference.target[:100]!r}"
            hint = "Copy the schema into $defs and refer to it as #/$defs/NAME. Nothing is ever fetched."
            yield Problem("REF_EXTERNAL", TOOLS, place, message, hint)
        else:
            message = f"{reference.keyword} points at nothing: {reference.target[:100]!r}"
            yield _invalid(place, message, "Define it under $defs, or correct the path.")


def _patterns(graph: SchemaGraph) -> Iterator[tuple[Path, str]]:
    for node in graph.nodes:
        pattern = node.schema.get("pattern")
        if isinstance(pattern, str):
            yield (*node.path, "pattern"), pattern
        keyed = node.schema.get("patternProperties")
        if isinstance(keyed, dict):
            for key in keyed:
                yield (*node.path, "patternProperties", key), key


def _check_patterns(graph: SchemaGraph, path: Path) -> Iterator[Problem]:
    for place, pattern in _patterns(graph):
        if _compiles(pattern, linear=True):
            continue
        shown = pattern if len(pattern) <= 80 else pattern[:79] + "…"
        if _compiles(pattern, linear=False):
            message = (
                f"The pattern {shown!r} needs look-around, a back-reference or too much memory: it is not checked here"
            )
            hint = "Write it without (?=, (?!, (?<= and \\1 where you can."
            yield Problem("TOOL_PATTERN_NOT_CHECKED", TOOLS, (*path, *place), message, hint)
        elif not _metaschema_refuses_pattern(pattern):
            yield _invalid((*path, *place), f"The pattern {shown!r} is no regular expression", "Check its brackets.")


def _metaschema_refuses_pattern(pattern: str) -> bool:
    return not _metaschema().is_valid({"pattern": pattern})


@lru_cache(maxsize=4096)
def _compiles(pattern: str, *, linear: bool) -> bool:
    if len(pattern) > 20_000:
        return False
    try:
        options = _LINEAR if linear else _BACKTRACKING
        jsonschema_rs.Draft202012Validator({"pattern": pattern}, offline=True, pattern_options=options)
    except (jsonschema_rs.ValidationError, ValueError):
        return False
    return True


def _check_size(graph: SchemaGraph, path: Path) -> Iterator[Problem]:
    endless = graph.endless()
    if endless is not None:
        message = "The schema refers back to itself on the same value: checking it would never end"
        yield _invalid((*path, *endless.path), message, "Refer to it from properties or items only.")
    elif graph.is_too_complex():
        message = f"The references and combinators unfold to more than {EXPANSIONS_MAX:,} schemas"
        yield Problem("TOOL_SCHEMA_TOO_COMPLEX", TOOLS, path, message, "Use fewer levels of shared definitions.")


def expansion_count(schema: Any) -> int:
    """How many subschemas a schema unfolds to; see SchemaGraph.expansions."""
    return SchemaGraph(schema).expansions() if isinstance(schema, dict) else 1


def refusal(graph: SchemaGraph, node: Node, value: Any) -> str | None:
    """Why the subschema refuses a value, in words; None where it takes it or where asking would cost too much."""
    try:
        if graph.visits(_depth(value)) > EXPANSIONS_MAX * 10:
            return None
    except RecursionError:
        return None
    validator = _validator(graph, node)
    if validator is None or validator.is_valid(value):
        return None
    try:
        validator.validate(value)
    except jsonschema_rs.ValidationError as error:
        return _words(error.message)
    return None


def _depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max((_depth(item) for item in value.values()), default=0)
    if isinstance(value, list):
        return 1 + max((_depth(item) for item in value), default=0)
    return 0


def _validator(graph: SchemaGraph, node: Node) -> jsonschema_rs.Draft202012Validator | None:
    schema: dict[str, Any] = node.schema
    if node.path and _refers(schema):
        # The subschema is reached by a pointer into the whole, so that its references keep their meaning.
        whole = {**graph.root.schema, "$id": graph.root.base or "urn:capability-studio:author"}
        steps = "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in node.path)
        schema = {"$ref": f"{whole['$id']}#{_quoted(steps)}", "$defs": {"author": whole}}
    schema = _without_hard_patterns(schema)
    try:
        return jsonschema_rs.Draft202012Validator(schema, offline=True, pattern_options=_LINEAR)
    except (jsonschema_rs.ValidationError, ValueError):
        return None


def _refers(schema: dict[str, Any]) -> bool:
    """Whether it needs the whole around it; to compile that for each of a thousand defaults takes seconds."""
    text = json.dumps(schema)
    return '"$ref"' in text or '"$dynamicRef"' in text


def _quoted(steps: str) -> str:
    from urllib.parse import quote

    return quote(steps, safe="/~$")


def _without_hard_patterns(schema: Any) -> Any:
    """A copy in which patterns that the linear engine cannot run are left out; most schemas have none."""
    if '"pattern' not in json.dumps(schema):
        return schema
    if isinstance(schema, list):
        return [_without_hard_patterns(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    copy = {key: _without_hard_patterns(item) for key, item in schema.items()}
    pattern = copy.get("pattern")
    if isinstance(pattern, str) and not _compiles(pattern, linear=True):
        del copy["pattern"]
    keyed = copy.get("patternProperties")
    if isinstance(keyed, dict):
        copy["patternProperties"] = {key: item for key, item in keyed.items() if _compiles(key, linear=True)}
    return copy
