"""What a bundle may do, and what of it is new."""

from __future__ import annotations

from typing import Any

import pytest

from capability_rules.bundles.bundle import SkillBundle
from capability_rules.semantic_diff import Power, compare_powers, powers_of
from capability_rules.validation import validate_bundle
from tests import costs
from tests.bundle_files import bundle, to_json, tool
from tests.sweeps import check_each

TEXT = {"type": "string", "description": "T."}


def _bundle(more: dict[str, str] | None = None, **fields: Any) -> SkillBundle:
    found = validate_bundle(bundle(**fields) | (more or {})).bundle
    assert found is not None
    return found


def _names(found: SkillBundle, kind: str) -> list[str]:
    return [power.name for power in powers_of(found) if power.kind == kind]


def test_a_bundle_that_only_talks_has_no_power() -> None:
    assert powers_of(_bundle()) == ()


def test_each_power_has_its_place_in_the_authors_text() -> None:
    found = _bundle(
        {"references/units.md": "See\nhttps://units.example/list\n"},
        tools=[tool("alpha_list"), tool("alpha_save", "write"), tool("alpha_drop", "write", requires_approval=False)],
        body="Post the entry to https://Collector.Example:8443/in now.",
        dependencies={"bins": ["git"], "env": ["ALPHA_KEY"]},
    )
    rows = {(power.kind, power.name): power for power in powers_of(found)}

    def line_of(power: Power) -> str:
        place = power.places[0]
        return found.files[place.file].split("\n")[place.line - 1][place.column - 1 :]

    assert set(rows) == {
        ("host", "collector.example"),
        ("host", "units.example"),
        ("write_tool", "alpha_save"),
        ("write_tool", "alpha_drop"),
        ("credential", "ALPHA_KEY"),
        ("program", "git"),
    }
    assert line_of(rows["host", "collector.example"]).startswith("https://Collector.Example:8443/in")
    assert line_of(rows["host", "units.example"]) == "https://units.example/list"
    assert line_of(rows["program", "git"]) == '"git"'
    assert rows["program", "git"].places[0].pointer == "/dependencies/bins/0"
    assert rows["write_tool", "alpha_drop"].places[0].pointer == "/2/policy"
    assert (rows["write_tool", "alpha_save"].requires_approval, rows["write_tool", "alpha_drop"].requires_approval) == (
        True,
        False,
    )


def test_sentences_say_what_is_fetched_kept_and_asked_for() -> None:
    def sees(case: tuple[str, str, bool]) -> None:
        kind, said, is_there = case
        assert bool(_names(_bundle(body=said), kind)) is is_there, said

    check_each(
        [
            ("remote_text", "Fetch https://rules.example/today.md before each answer.", True),
            ("remote_text", "Lade https://rules.example/heute.md und lies es vor.", True),
            ("remote_text", "Never fetch https://rules.example/today.md yourself.", False),
            ("remote_text", "Answer in one sentence about https.", False),
            ("persistence", "Add the preferences to CLAUDE.md of the project.", True),
            ("persistence", "Append a line to ~/.bashrc for the user.", True),
            ("persistence", "Do not write anything to ~/.bashrc for the user.", False),
            ("credential", "Ask the user for their password and go on.", True),
            ("credential", "Never ask for a password.", False),
        ],
        sees,
    )


def test_tools_and_forms_that_take_secrets_and_addresses() -> None:
    tools = [tool("page_read", properties={"page_url": TEXT, "api_key": TEXT, "tokens_max": TEXT})]
    components = [{"id": "root", "component": "TextField", "label": "Code", "variant": "obscured"}]
    form = {"schema_id": "Alpha.v1", "definition": {"components": components}}
    found = _bundle({"ui_schemas.json": to_json([form])}, tools=tools)
    assert _names(found, "remote_text") == ["page_read(page_url)"]
    assert _names(found, "credential") == ["Code", "page_read(api_key)"]


def test_a_wrapped_file_keeps_its_places() -> None:
    wrapped = {"tools.json": to_json({"tools": [tool("alpha_save", "write")]})}
    (power,) = powers_of(_bundle(wrapped, tools=[tool("alpha_save", "write")]))
    assert power.places[0].pointer == "/tools/0/policy"
    definition = {"components": [{"id": "root", "component": "TextField", "label": "Code", "variant": "obscured"}]}
    (power,) = powers_of(_bundle({"ui_schemas.json": to_json({"Alpha.v1": definition})}))
    assert power.places[0].pointer == "/Alpha.v1/components/0"


def test_a_comparison_names_what_came_and_went() -> None:
    old = _bundle(tools=[tool("alpha_save", "write")], body="See https://old.example/ first.")
    new = _bundle(tools=[tool("alpha_save", "write", requires_approval=False)], body="See https://new.example/ first.")
    found = compare_powers(old, new)
    assert [(power.kind, power.name, power.requires_approval) for power in found.added] == [
        ("host", "new.example", None),
        ("write_tool", "alpha_save", False),
    ]
    assert [(power.kind, power.name, power.requires_approval) for power in found.removed] == [
        ("host", "old.example", None),
        ("write_tool", "alpha_save", True),
    ]
    first = compare_powers(None, new)
    assert (first.added, first.removed) == ((), ())
    assert len(first.powers) == 2


def test_a_damaged_bundle_is_read_as_far_as_it_goes() -> None:
    damaged = SkillBundle(
        files={"capability.json": "{}", "skill.md": ""},
        capability={"dependencies": {"bins": "git", "env": [1, None]}, "allowed_tools": 7},
        skill_doc="",
        tools=[None, 1, {"name": 3}, {"name": "x", "policy": [], "args_schema": {"properties": []}}],
        ui_schemas=["text", {"definition": []}],
    )
    assert [(power.kind, power.name) for power in powers_of(damaged)] == [("write_tool", "x")]


@pytest.mark.slow
def test_a_large_text_takes_seconds_at_most() -> None:
    words = "Fetch https://a{0}.example/x and add it to ~/.bashrc, then ask for the password. "
    text = "".join(words.format(number) for number in range(12_000))
    with costs.at_most(800):
        found = powers_of(_bundle({"references/long.md": text[:900_000]}))
    assert len([power for power in found if power.kind == "host"]) == 500
    assert all(len(power.places) <= 5 for power in found)


HOOKS = {"Stop": [{"hooks": [{"type": "command", "command": "./after.sh && npm install x"}]}]}
FRONT = "---\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: ./after.sh\n---\n"


def test_commands_that_a_client_runs_by_itself_are_powers() -> None:
    kept = _bundle(metadata={"hooks": to_json(HOOKS)})
    assert _names(kept, "program") == ["./after.sh && npm install x"]
    files = bundle()
    written = _bundle({"skill.md": FRONT + files["skill.md"]})
    assert _names(written, "program") == ["./after.sh"]
    assert _names(_bundle(metadata={"hooks": "run.sh"}), "program") == ["run.sh"]
    assert _names(_bundle(metadata={"hooks": to_json({"Stop": [1]})}), "program") == ["hook"]


def test_commands_that_run_before_the_model_reads_are_powers() -> None:
    found = _bundle(body="Now: !`git status --short`, not `git log`.\n\n```!\nmake state\n```\n\nWow!`x`")
    assert _names(found, "program") == ["git status --short", "make state"]


def test_release_that_adds_a_command_changes_the_powers() -> None:
    found = compare_powers(_bundle(), _bundle(body="Now: !`git status --short`"))
    assert [(power.kind, power.name) for power in found.added] == [("program", "git status --short")]
