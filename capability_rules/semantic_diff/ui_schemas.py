"""Forms that came, went, look different or do something else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from capability_kit.json_text import as_mapping
from capability_rules.bundles.bundle import SkillBundle
from capability_rules.bundles.problem import Path
from capability_rules.semantic_diff.change import Change

FILE: Final = "ui_schemas.json"


def compare_ui_schemas(old: SkillBundle, new: SkillBundle) -> Iterator[Change]:
    """By the name of the form."""
    before, after = _forms(old), _forms(new)
    for schema_id in sorted(after.keys() - before.keys()):
        index, form = after[schema_id]
        yield Change("changes", "", f"The form `{schema_id}` is new{_calling(form)}", (index,), FILE)
    for schema_id in sorted(before.keys() - after.keys()):
        yield Change("breaks", "", f"The form `{schema_id}` is gone", None, FILE)
    for schema_id in sorted(before.keys() & after.keys()):
        index, form = after[schema_id]
        yield from _form_changes(schema_id, before[schema_id][1], form, (index,))


def _forms(bundle: SkillBundle) -> dict[str, tuple[int, dict[str, Any]]]:
    return {
        form["schema_id"]: (index, form)
        for index, form in enumerate(bundle.ui_schemas)
        if isinstance(form, dict) and isinstance(form.get("schema_id"), str)
    }


def _calling(form: dict[str, Any]) -> str:
    called = sorted(_called(form))
    return f", and calls {', '.join(f'`{name}`' for name in called)}" if called else ""


def _called(form: dict[str, Any]) -> set[str]:
    actions = as_mapping(form.get("actions")).values()
    return {action["tool"] for action in actions if isinstance(as_mapping(action).get("tool"), str)}


def _form_changes(schema_id: str, old: dict[str, Any], new: dict[str, Any], path: Path) -> Iterator[Change]:
    if old == new:
        return
    before, after = _called(old), _called(new)
    for name in sorted(before - after):
        yield Change("changes", name, f"The form `{schema_id}` no longer calls `{name}`", path, FILE)
    for name in sorted(after - before):
        yield Change("widens", name, f"The form `{schema_id}` calls `{name}` now", path, FILE)
    if before == after and old.get("actions") != new.get("actions"):
        yield Change("changes", "", f"The buttons of the form `{schema_id}` do something else", path, FILE)
    if old.get("definition") != new.get("definition"):
        yield Change("changes", "", f"The form `{schema_id}` changed", path, FILE)
    if _texts_of_form(old) != _texts_of_form(new):
        yield Change("changes", "", f"What is said of the form `{schema_id}` changed", path, FILE)


def _texts_of_form(form: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in form.items() if key not in ("definition", "actions")}
