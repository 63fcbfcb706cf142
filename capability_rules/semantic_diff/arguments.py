"""The arguments of a tool: what a call that was right meets now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from capability_kit.json_text import as_mapping
from capability_rules.bundles.problem import Path
from capability_rules.semantic_diff.change import Change, Effect


def compare_schemas(name: str, old: Any, new: Any, path: Path, argument: str) -> Iterator[Change]:
    """`argument` is where in the arguments of the tool `name` the schema is; empty for the whole of them."""
    if old == new or not (isinstance(old, dict) and isinstance(new, dict)):
        return
    what = f"`{argument}` of `{name}`" if argument else f"`{name}`"
    yield from _required_changes(name, old, new, path, argument)
    yield from _property_changes(name, old, new, path, argument)
    yield from _type_changes(name, old, new, path, what)
    yield from _enum_changes(name, old, new, path, what)
    yield from _bound_changes(name, old, new, path, what)
    yield from compare_schemas(name, old.get("items"), new.get("items"), (*path, "items"), f"{argument}[]")
    if old.get("additionalProperties") is not False and new.get("additionalProperties") is False:
        yield Change("breaks", name, f"{what} takes no further arguments than those named", path)
    for keyword in ("pattern", "format", "const", "allOf", "anyOf", "oneOf", "not", "$ref", "$defs"):
        if old.get(keyword) != new.get(keyword):
            yield Change("changes", name, f"`{keyword}` of {what} changed", path)


def _type_changes(name: str, old: dict[str, Any], new: dict[str, Any], path: Path, what: str) -> Iterator[Change]:
    before, after = old.get("type"), new.get("type")
    if before == after:
        return
    if after is None:
        yield Change("changes", name, f"{what} takes any type where it took {_type_words(before)}", path)
        return
    narrower = before is None or not _types(before) <= _types(after)
    was = "any" if before is None else _type_words(before)
    words = f"The type of {what} is {_type_words(after)} where it was {was}"
    yield Change("breaks" if narrower else "changes", name, words, path)


def _type_words(value: Any) -> str:
    return " or ".join(str(item) for item in value) if isinstance(value, list) else str(value)


def _types(value: Any) -> set[str]:
    """The types that a schema takes; every whole number is a number."""
    types = {value} if isinstance(value, str) else string_set(value)
    return types | {"integer"} if "number" in types else types


def _required_changes(
    name: str, old: dict[str, Any], new: dict[str, Any], path: Path, argument: str
) -> Iterator[Change]:
    before, after = string_set(old.get("required")), string_set(new.get("required"))
    for key in sorted(after - before):
        yield Change("breaks", name, f"`{_join(argument, key)}` of `{name}` became required", path)
    for key in sorted(before - after):
        yield Change("changes", name, f"`{_join(argument, key)}` of `{name}` is no longer required", path)


def string_set(value: Any) -> set[str]:
    """The strings of a list, in no order."""
    return {item for item in value if isinstance(item, str)} if isinstance(value, list) else set()


def _join(argument: str, key: str) -> str:
    return f"{argument}.{key}" if argument else key


def _property_changes(
    name: str, old: dict[str, Any], new: dict[str, Any], path: Path, argument: str
) -> Iterator[Change]:
    before, after = as_mapping(old.get("properties")), as_mapping(new.get("properties"))
    for key in sorted(set(before) - set(after)):
        effect: Effect = "breaks" if new.get("additionalProperties") is False else "changes"
        yield Change(effect, name, f"The argument `{_join(argument, key)}` of `{name}` is gone", path)
    for key in sorted(set(after) - set(before)):
        place = (*path, "properties", key)
        yield Change("changes", name, f"The argument `{_join(argument, key)}` of `{name}` is new", place)
    for key in sorted(set(before) & set(after)):
        yield from compare_schemas(name, before[key], after[key], (*path, "properties", key), _join(argument, key))


def _enum_changes(name: str, old: dict[str, Any], new: dict[str, Any], path: Path, what: str) -> Iterator[Change]:
    before, after = old.get("enum"), new.get("enum")
    if before == after:
        return
    if after is None:
        yield Change("changes", name, f"{what} takes any value where it had a list", path)
        return
    allowed = after if isinstance(after, list) else []
    gone = [value for value in before if value not in allowed] if isinstance(before, list) else None
    if gone is None:
        yield Change("breaks", name, f"{what} takes only {_values(allowed)}", path)
    elif gone:
        yield Change("breaks", name, f"{what} no longer takes {_values(gone)}", path)
    else:
        yield Change("changes", name, f"{what} takes more values", path)


def _values(values: list[Any]) -> str:
    shown = ", ".join(str(value) for value in values[:10])
    return shown + (" and more" if len(values) > 10 else "")


# The keyword, and the direction in which moving it narrows what is taken.
_BOUNDS = (
    ("minimum", 1), ("exclusiveMinimum", 1), ("minLength", 1), ("minItems", 1), ("minProperties", 1),
    ("maximum", -1), ("exclusiveMaximum", -1), ("maxLength", -1), ("maxItems", -1), ("maxProperties", -1),
)  # fmt: skip


def _bound_changes(name: str, old: dict[str, Any], new: dict[str, Any], path: Path, what: str) -> Iterator[Change]:
    for keyword, direction in _BOUNDS:
        before, after = old.get(keyword), new.get(keyword)
        if before == after:
            continue
        narrower = after is not None and (
            before is None or (_is_number(before) and _is_number(after) and (after - before) * direction > 0)
        )
        was = "" if before is None else f" where it was {before}"
        words = f"`{keyword}` of {what} is {after}{was}" if after is not None else f"`{keyword}` of {what} is gone"
        yield Change("breaks" if narrower else "changes", name, words, path)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)
