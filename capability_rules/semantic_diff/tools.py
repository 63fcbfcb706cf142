"""Tools, their policies and their arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from capability_rules.bundles.bundle import SkillBundle
from capability_rules.bundles.problem import Path
from capability_rules.semantic_diff.arguments import compare_schemas, string_set
from capability_rules.semantic_diff.change import Change


def compare_tools(old: SkillBundle, new: SkillBundle) -> Iterator[Change]:
    """Tools that came, went or changed."""
    before = {tool["name"]: tool for tool in old.tools if _is_readable(tool)}
    after = {tool["name"]: (index, tool) for index, tool in enumerate(new.tools)}
    gone = {name: tool for name, tool in before.items() if name not in after}
    yield from (Change("breaks", name, f"The tool `{name}` is gone") for name in gone)
    for name, (index, tool) in after.items():
        if name in before:
            yield from _tool_changes(name, before[name], tool, (index,))
        else:
            yield Change("widens", name, f"The tool `{name}` is new: {_policy_words(tool)}", (index,))
            yield from _looser_than_gone(name, tool, gone, (index, "policy"))


def _looser_than_gone(name: str, tool: dict[str, Any], gone: dict[str, dict[str, Any]], path: Path) -> Iterator[Change]:
    """A new name must not be a way around a policy: what writes is compared with the tools that are gone."""
    policy = tool["policy"]
    if policy["kind"] != "write":
        return
    approved = [old for old, each in gone.items() if each["policy"].get("requires_approval")]
    if approved and not policy.get("requires_approval"):
        words = f"`{name}` writes without approval, and `{approved[0]}`, which needed it, is gone"
        yield Change("loosens", name, words, path)
    limited = [old for old, each in gone.items() if isinstance(each["policy"].get("allowed_roles"), list)]
    roles = policy.get("allowed_roles")
    allowed = set[str]().union(*(string_set(gone[old]["policy"]["allowed_roles"]) for old in limited))
    if limited and (roles is None or string_set(roles) - allowed):
        words = f"`{name}` has more roles than `{limited[0]}`, which is gone"
        yield Change("loosens", name, words, path)


def _is_readable(tool: Any) -> bool:
    return isinstance(tool, dict) and isinstance(tool.get("name"), str) and isinstance(tool.get("policy"), dict)


def _policy_words(tool: dict[str, Any]) -> str:
    policy = tool["policy"]
    does = "it only reads" if policy["kind"] == "read" else "it writes"
    if policy.get("requires_approval"):
        return f"{does}, and each call needs approval"
    return does if policy["kind"] == "read" else f"{does} without approval"


def _tool_changes(name: str, old: dict[str, Any], new: dict[str, Any], path: Path) -> Iterator[Change]:
    yield from _policy_changes(name, old["policy"], new["policy"], (*path, "policy"))
    if old.get("description") != new["description"]:
        yield Change("changes", name, f"The description of `{name}` changed", (*path, "description"))
    yield from compare_schemas(name, old.get("args_schema"), new["args_schema"], (*path, "args_schema"), "")
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
    added = sorted(string_set(new) - string_set(old)) if old is not None else []
    removed = sorted(string_set(old) - string_set(new))
    if added:
        yield Change("loosens", name, f"The roles {', '.join(added)} may now call `{name}`", path)
    if removed:
        yield Change("breaks", name, f"The roles {', '.join(removed)} may no longer call `{name}`", path)
    if old is None and new is not None:
        yield Change("breaks", name, f"Only the roles {', '.join(new) or '(none)'} may call `{name}`", path)
