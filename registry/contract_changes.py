"""What a release changes for those who rely on it, in words: tools, policies and schemas."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from registry.bundles import Bundle
from registry.validation.problems import Path

Effect = Literal["loosens", "breaks", "changes"]


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between two releases of a capability.

    `loosens`: a tool may do more, or with less approval, than before. `breaks`: a call that was right may be refused.
    `path` leads to the place in the new tools.json; None where it is gone.
    """

    effect: Effect
    tool: str
    words: str
    path: Path | None = None


def contract_changes(old: Bundle, new: Bundle) -> list[Change]:
    """Every difference in tools, policies, argument schemas, triggers and forms, loosening first.

    `new` has passed the checks; `old` may be a damaged row, of which only what can be read is compared.
    """
    before = {tool["name"]: tool for tool in old.tools if _is_readable(tool)}
    after = {tool["name"]: (index, tool) for index, tool in enumerate(new.tools)}
    changes = [Change("breaks", name, f"The tool `{name}` is gone") for name in before if name not in after]
    for name, (index, tool) in after.items():
        if name in before:
            changes += _tool_changes(name, before[name], tool, (index,))
        else:
            changes.append(Change("changes", name, f"The {_policy_words(tool)} tool `{name}` is new", (index,)))
    changes += _trigger_changes(old, new)
    changes += _form_changes(old, new)
    order = ("loosens", "breaks", "changes")
    return sorted(changes, key=lambda change: order.index(change.effect))


def _is_readable(tool: Any) -> bool:
    return isinstance(tool, dict) and isinstance(tool.get("name"), str) and isinstance(tool.get("policy"), dict)


def _policy_words(tool: dict[str, Any]) -> str:
    policy = tool["policy"]
    approval = ", approved" if policy.get("requires_approval") else ""
    return f"{policy['kind']}{approval}"


def _tool_changes(name: str, old: dict[str, Any], new: dict[str, Any], path: Path) -> Iterator[Change]:
    yield from _policy_changes(name, old["policy"], new["policy"], (*path, "policy"))
    if old.get("description") != new["description"]:
        yield Change("changes", name, f"The description of `{name}` changed", (*path, "description"))
    yield from _schema_changes(name, old.get("args_schema"), new["args_schema"], (*path, "args_schema"), "")
    if old.get("result_schema") != new.get("result_schema"):
        yield Change("changes", name, f"The result of `{name}` changed", path)
    if old.get("ui") != new.get("ui"):
        yield Change("changes", name, f"The forms of `{name}` changed", path)


def _policy_changes(name: str, old: dict[str, Any], new: dict[str, Any], path: Path) -> Iterator[Change]:
    if (old.get("kind"), new["kind"]) == ("read", "write"):
        yield Change("loosens", name, f"`{name}` writes where it read", path)
    elif old.get("kind") != new["kind"]:
        yield Change("changes", name, f"`{name}` is declared read where it was write", path)
    if old.get("requires_approval") and not new.get("requires_approval"):
        yield Change("loosens", name, f"`{name}` no longer needs approval", path)
    elif new.get("requires_approval") and not old.get("requires_approval"):
        yield Change("changes", name, f"`{name}` now needs approval", path)
    yield from _role_changes(name, old.get("allowed_roles"), new.get("allowed_roles"), path)


def _role_changes(name: str, old: list[str] | None, new: list[str] | None, path: Path) -> Iterator[Change]:
    if old == new:
        return
    if old is not None and new is None:
        yield Change("loosens", name, f"Every role may call `{name}`", path)
        return
    added = sorted(_names(new) - _names(old)) if old is not None else []
    removed = sorted(_names(old) - _names(new))
    if added:
        yield Change("loosens", name, f"The roles {', '.join(added)} may now call `{name}`", path)
    if removed:
        yield Change("breaks", name, f"The roles {', '.join(removed)} may no longer call `{name}`", path)
    if old is None and new is not None:
        yield Change("breaks", name, f"Only the roles {', '.join(new) or '(none)'} may call `{name}`", path)


def _schema_changes(name: str, old: Any, new: Any, path: Path, argument: str) -> Iterator[Change]:
    if old == new or not (isinstance(old, dict) and isinstance(new, dict)):
        return
    what = f"`{argument}` of `{name}`" if argument else f"`{name}`"
    yield from _required_changes(name, old, new, path, argument)
    yield from _property_changes(name, old, new, path, argument)
    yield from _type_changes(name, old, new, path, what)
    yield from _enum_changes(name, old, new, path, what)
    yield from _bound_changes(name, old, new, path, what)
    yield from _schema_changes(name, old.get("items"), new.get("items"), (*path, "items"), f"{argument}[]")
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
        yield Change("changes", name, f"{what} takes any type where it took {before}", path)
        return
    narrower = before is None or not _types(before) <= _types(after)
    yield Change(
        "breaks" if narrower else "changes", name, f"The type of {what} is {after} where it was {before}", path
    )


def _types(value: Any) -> set[str]:
    """The types that a schema takes; every whole number is a number."""
    types = {value} if isinstance(value, str) else _names(value)
    return types | {"integer"} if "number" in types else types


def _required_changes(
    name: str, old: dict[str, Any], new: dict[str, Any], path: Path, argument: str
) -> Iterator[Change]:
    before, after = _names(old.get("required")), _names(new.get("required"))
    for key in sorted(after - before):
        yield Change("breaks", name, f"`{_join(argument, key)}` of `{name}` became required", path)
    for key in sorted(before - after):
        yield Change("changes", name, f"`{_join(argument, key)}` of `{name}` is no longer required", path)


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _names(value: Any) -> set[str]:
    return {item for item in value if isinstance(item, str)} if isinstance(value, list) else set()


def _join(argument: str, key: str) -> str:
    return f"{argument}.{key}" if argument else key


def _property_changes(
    name: str, old: dict[str, Any], new: dict[str, Any], path: Path, argument: str
) -> Iterator[Change]:
    before, after = _mapping(old.get("properties")), _mapping(new.get("properties"))
    for key in sorted(set(before) - set(after)):
        effect: Effect = "breaks" if new.get("additionalProperties") is False else "changes"
        yield Change(effect, name, f"The argument `{_join(argument, key)}` of `{name}` is gone", path)
    for key in sorted(set(after) - set(before)):
        place = (*path, "properties", key)
        yield Change("changes", name, f"The argument `{_join(argument, key)}` of `{name}` is new", place)
    for key in sorted(set(before) & set(after)):
        yield from _schema_changes(name, before[key], after[key], (*path, "properties", key), _join(argument, key))


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


def _trigger_changes(old: Bundle, new: Bundle) -> Iterator[Change]:
    before = _list(old.capability.get("intent_triggers"))
    after = _list(new.capability.get("intent_triggers"))
    for trigger in [item for item in after if item not in before]:
        yield Change("changes", "", f"The trigger “{trigger}” is new")
    for trigger in [item for item in before if item not in after]:
        yield Change("changes", "", f"The trigger “{trigger}” is gone")


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _has_schema_id(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("schema_id"), str)


def _form_changes(old: Bundle, new: Bundle) -> Iterator[Change]:
    before = {entry["schema_id"]: entry for entry in old.ui_schemas if _has_schema_id(entry)}
    after = {entry["schema_id"]: entry for entry in new.ui_schemas}
    for schema_id in sorted(set(after) - set(before)):
        yield Change("changes", "", f"The form `{schema_id}` is new")
    for schema_id in sorted(set(before) - set(after)):
        yield Change("breaks", "", f"The form `{schema_id}` is gone")
    for schema_id in sorted(
        schema_id for schema_id in set(before) & set(after) if before[schema_id] != after[schema_id]
    ):
        yield Change("changes", "", f"The form `{schema_id}` changed")
