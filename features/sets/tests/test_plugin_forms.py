"""The files of plugins: against published schemas, by hostile texts, and back by an import."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from capability_rules.agent_skills.exporter import export_skill_files
from capability_rules.agent_skills.importer import import_skill
from capability_rules.bundles.archives import write_zip
from capability_rules.discovery.bundle_discovery import discover_in_archive
from capability_rules.validation import validate_bundle
from features.sets.plugin_forms import FORMS, PluginSource, SkillFiles, build_plugin, list_losses
from features.sets.set_document import parse_set

SCHEMAS = Path(__file__).parent / "schemas"
EXAMPLES = Path(__file__).parents[3] / "examples"
MANIFESTS = {
    "agent-plugin": "plugin.json",
    "claude": ".claude-plugin/plugin.json",
    "codex": "plugins/front-desk/.codex-plugin/plugin.json",
    "cursor": ".cursor-plugin/plugin.json",
}


def skill(capability_id: str, *, name: str = "", **files: str) -> SkillFiles:
    """An Agent Skill of a member; `tools` and `ui_schemas` are texts below references/."""
    front = f"---\nname: {name or capability_id.replace('_', '-')}\ndescription: Does it.\n---\n# Text\n"
    below = {f"references/{key}.json": text.encode() for key, text in files.items()}
    return SkillFiles(capability_id, 1, {"SKILL.md": front.encode(), **below})


def source(*skills: SkillFiles, base_url: str = "https://studio.example.com", **more: Any) -> PluginSource:
    """What a plugin of the set front_desk is made of."""
    values: dict[str, Any] = {"set_id": "front_desk", "name": "Front desk", "description": "What the desk needs."}
    members = [{"capability_id": each.capability_id} for each in skills]
    document = parse_set(values | more | {"members": members})
    return PluginSource(document, "1.3.57", "Health", base_url, needs_key=True, skills=skills)


def _schema(name: str) -> Any:
    document = json.loads((SCHEMAS / name).read_text())
    return jsonschema.validators.validator_for(document)(document)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_has_its_manifest_and_all_skills(form: str) -> None:
    files = build_plugin(source(skill("alpha"), skill("beta_two")), form)
    manifest = json.loads(files[MANIFESTS[form]])
    assert (manifest["name"], manifest["version"]) == ("front-desk", "1.3.57")
    root = "plugins/front-desk/" if form == "codex" else ""
    assert {f"{root}skills/alpha/SKILL.md", f"{root}skills/beta-two/SKILL.md"} <= set(files)
    assert write_zip(files, compress=False) == write_zip(
        build_plugin(source(skill("alpha"), skill("beta_two")), form), compress=False
    )


def test_the_agent_plugin_is_valid_by_the_published_schemas() -> None:
    files = build_plugin(source(skill("alpha")), "agent-plugin")
    _schema("agent-plugins-1.0.0-plugin.schema.json").validate(json.loads(files["plugin.json"]))
    _schema("agent-plugins-1.0.0-mcp.schema.json").validate(json.loads(files["mcp.json"]))
    assert "KEY" not in files["mcp.json"].decode()


def test_the_cursor_plugin_is_valid_by_the_published_schema() -> None:
    files = build_plugin(source(skill("alpha")), "cursor")
    _schema("cursor-plugin.schema.json").validate(json.loads(files[".cursor-plugin/plugin.json"]))


@pytest.mark.parametrize(
    ("base_url", "has_server"),
    [
        ("https://studio.example.com", True),
        ("http://127.0.0.1:8000", True),
        ("http://localhost:8000", True),
        ("http://[::1]:8000", True),
        ("http://studio.example.com", False),
        ("http://10.0.0.7", False),
    ],
)
def test_a_server_that_clients_would_refuse_is_left_out(base_url: str, has_server: bool) -> None:
    found = source(skill("alpha"), base_url=base_url)
    named = [path for form in FORMS for path in build_plugin(found, form) if path.endswith("mcp.json")]
    assert len(named) == (4 if has_server else 0)


def test_hostile_texts_stay_texts() -> None:
    words = 'A "desk" \\ </script> ${HOME} ../../etc/passwd {{x}} \u05d0 🎉'
    files = build_plugin(source(skill("alpha"), name=words[:80], description=words), "claude")
    assert json.loads(files[".claude-plugin/plugin.json"])["description"] == words
    assert all(".." not in path and path.isprintable() for path in files)


def test_two_members_of_one_name_keep_their_folders_apart_and_it_is_said() -> None:
    found = source(skill("alpha", name="same"), skill("beta", name="same"), skill("same"))
    files = build_plugin(found, "agent-plugin")
    assert {path for path in files if path.endswith("SKILL.md")} == {
        "skills/alpha/SKILL.md",
        "skills/beta/SKILL.md",
        "skills/same/SKILL.md",
    }
    assert [(loss.capability_id, loss.renamed) for loss in list_losses(found)] == [("alpha", "same"), ("beta", "same")]


def test_the_folder_has_the_name_that_the_author_wrote() -> None:
    assert "skills/研究/SKILL.md" in build_plugin(source(skill("yan_jiu", name="研究")), "agent-plugin")


def test_what_a_client_cannot_hold_is_counted() -> None:
    tools = [
        {"name": "a", "policy": {"kind": "read"}},
        {"name": "b", "policy": {"kind": "write", "requires_approval": True}},
    ]
    found = source(
        skill("alpha", tools=json.dumps(tools), ui_schemas=json.dumps([{"schema_id": "F.v1"}])), skill("beta")
    )
    (loss,) = list_losses(found)
    assert (loss.tools, loss.approvals, loss.forms) == (2, 1, 1)


@pytest.mark.parametrize("form", FORMS)
def test_every_byte_of_a_skill_comes_back_by_an_import(form: str) -> None:
    """The seven examples and their plugin, as a repository of skills is read."""
    skills = [
        SkillFiles(
            folder.name,
            1,
            _exported({path.name: path.read_text("utf-8") for path in folder.iterdir() if path.is_file()}),
        )
        for folder in sorted(EXAMPLES.iterdir())
        if (folder / "capability.json").is_file()
    ]
    archive = write_zip(build_plugin(source(*skills), form), compress=False)
    found = {each.path.rpartition("/")[2]: each for each in discover_in_archive(archive, "plugin.zip")}
    assert len(found) == len(skills) >= 7
    for each in skills:
        taken = import_skill(found[each.capability_id.replace("_", "-")])
        assert taken.files is not None, taken
        assert _exported(taken.files) == each.files, each.capability_id


def _exported(files: Mapping[str, bytes | str]) -> dict[str, bytes]:
    bundle = validate_bundle(dict(files)).bundle
    assert bundle is not None
    return {path: text.encode() for path, text in export_skill_files(bundle, for_agents=True).items()}
