"""Agent Skills of others: one reading on both sides, and a round trip that keeps the meaning of the front matter.

`AGENT_SKILLS` names a folder with SKILL.md files at any depth; without it, those of installed packages count.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from importlib.metadata import files
from pathlib import Path
from typing import Any

import pytest
import yaml

from capability_client.client.local_registry import SkillUnreadable, read_folder
from capability_kit.bundles.front_matter import normalize_skill_text
from capability_kit.bundles.skill_names import is_skill_name
from capability_rules.agent_skills.exporter import export_skill_files
from capability_rules.agent_skills.importer import ImportedSkill, import_skill
from capability_rules.bundles.bundle_reader import SourceBundle
from capability_rules.discovery.bundle_discovery import discover_bundles
from capability_rules.lint.checks import lint_paths
from capability_rules.validation import validate_bundle
from registry.publishing.batch import import_all
from tests.factories import OLGA
from tests.sweeps import check_each

pytestmark = pytest.mark.rare


def _skills() -> Iterator[Path]:
    folder = os.environ.get("AGENT_SKILLS")
    if folder:
        yield from (path for path in sorted(Path(folder).rglob("*")) if path.name.lower() == "skill.md")
        return
    for packed in files("playwright") or ():
        if packed.name == "SKILL.md":
            yield Path(str(packed.locate()))


def _imported(path: Path) -> ImportedSkill:
    return import_skill(SourceBundle(str(path), {"SKILL.md": path.read_bytes()}, path.parent.name))


def test_each_public_skill_is_read_alike_by_server_and_client() -> None:
    def check(path: Path) -> None:
        taken = _imported(path)
        try:
            own = read_folder(path.parent).capability
        except SkillUnreadable:
            assert taken.files is None, taken.findings
            return
        found = json.loads((taken.files or {})["capability.json"])
        for key in ("capability_id", "license", "compatibility", "allowed_tools", "priority", "max_turns"):
            assert own.get(key) == found.get(key), key

    check_each(_skills(), check)


@pytest.mark.django_db
def test_lint_finds_in_each_what_an_import_into_an_empty_registry_finds() -> None:
    def check(path: Path) -> None:
        sources = discover_bundles(str(path.parent))
        imported = {entry.path: entry for entry in import_all(sources, by=OLGA, mode="draft", dry_run=True)}
        linted = {entry.path: entry.report for entry in lint_paths([str(path.parent)]).checked}
        assert linted.keys() == imported.keys()
        for name, report in linted.items():
            assert [one.as_dict() for one in report.findings] == [one.as_dict() for one in imported[name].findings]

    check_each(_skills(), check)


def test_each_public_skill_goes_out_with_the_front_matter_that_came_in() -> None:
    def check(path: Path) -> None:
        before = _parsed(path.read_text("utf-8", errors="replace"))
        taken = _imported(path)
        if before is None or taken.files is None:
            # What is not YAML, or has no name or description, has findings that say so.
            assert taken.findings
            return
        bundle = validate_bundle(taken.files).bundle
        assert bundle is not None
        after = _parsed(export_skill_files(bundle)["SKILL.md"])
        assert after is not None
        metadata = after.get("metadata")
        if isinstance(metadata, dict) and "capability_id" not in (before.get("metadata") or {}):
            metadata.pop("capability_id", None)
        assert _meaning(after, before) == _meaning(before, before)

    check_each(_skills(), check)


def _parsed(text: str) -> dict[str, Any] | None:
    """By YAML alone, without the product's own reader; None for what is not a map."""
    begin, _, rest = normalize_skill_text(text).partition("---\n")
    if begin.strip():
        return None
    try:
        found = yaml.safe_load(rest.partition("\n---")[0])
    except yaml.YAMLError:
        return None
    return found if isinstance(found, dict) else None


def _meaning(front_matter: dict[str, Any], original: dict[str, Any]) -> Any:
    """Without what an import has to change: a name that is none in the format, empty metadata, spaces around texts."""
    name = original.get("name")
    is_named = isinstance(name, str) and is_skill_name(name.strip())
    return {
        key: _stripped(value)
        for key, value in front_matter.items()
        if (key != "name" or is_named) and (key != "metadata" or value)
    }


def _stripped(value: Any) -> Any:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, dict):
        return {key: _stripped(item) for key, item in value.items()}
    return [_stripped(item) for item in value] if isinstance(value, list) else value
