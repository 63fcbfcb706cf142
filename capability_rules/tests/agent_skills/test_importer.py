"""Agent Skills become bundles: what is mapped, kept elsewhere and left out is said, and nothing is guessed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capability_rules.agent_skills.exporter import export_skill_files
from capability_rules.agent_skills.importer import ImportedSkill, import_skill
from capability_rules.bundles.bundle_reader import SourceBundle
from capability_rules.validation import validate_bundle
from capability_rules.validation.codes import list_codes
from tests import costs
from tests.bundle_files import bundle, tool
from tests.sweeps import check_each

MIB = 1024 * 1024
PLAIN = "---\nname: pdf-tools\ndescription: Work with PDF files.\n---\n\n# PDF\n\nUse the tools.\n"
PLAYBOOK_BODY = (
    "# Reset a password\n\n**Product Area:** accounts\n**Keywords:** login, locked out\n\n"
    "## Goal\nGet the customer back in.\n\n## Prerequisites\n- A verified email\n\n"
    "## Steps\n\n### 1. Send the link\n**Do:** Send it.\n**Check:** It arrived.\n**Say:** Look into your mail.\n\n"
    "## Edge Cases\n- No email → call.\n\n## Escalation\nHand over.\n"
)


def _skill(front_matter: str, body: str = "# X\n\nText.\n") -> str:
    return f"---\n{front_matter}\n---\n{body}"


def _named(rest: str) -> str:
    return _skill(f"name: x\ndescription: Does x.\n{rest}")


def _take(text: str | bytes, *, name: str = "SKILL.md", folder: str = "", **others: str) -> ImportedSkill:
    return import_skill(SourceBundle("path", {name: text, **others}, folder))


def _capability(taken: ImportedSkill) -> dict[str, Any]:
    """capability.json without the layout of the front matter (test_front_matter_layout.py)."""
    assert taken.files is not None, taken.findings
    value: dict[str, Any] = json.loads(taken.files["capability.json"])
    if value.get("metadata", {}).pop("front_matter", None) and not value["metadata"]:
        del value["metadata"]
    return value


def _codes(taken: ImportedSkill) -> list[str]:
    return [finding.code for finding in taken.findings]


def test_a_plain_skill_has_no_losses_and_is_publishable() -> None:
    taken = _take(PLAIN, folder="pdf-tools")
    assert _capability(taken) == {
        "capability_id": "pdf_tools",
        "name": "pdf-tools",
        "description": "Work with PDF files.",
        "skill_profile": "agent_skill",
    }
    assert (taken.files or {})["skill.md"] == "\n# PDF\n\nUse the tools.\n"
    assert taken.findings == ()
    assert validate_bundle(taken.files or {}).findings == ()


@pytest.mark.parametrize("text", [PLAIN.replace("\n", "\r\n"), PLAIN.replace("\n", "\r")])
def test_other_line_ends_are_normalized(text: str) -> None:
    assert _take(text) == _take(text.encode()) == _take(PLAIN)


@pytest.mark.parametrize("text", ["\ufeff" + PLAIN, PLAIN.encode("utf-8-sig"), "\ufeff" + PLAIN.replace("\n", "\r\n")])
def test_a_byte_order_mark_is_dropped_and_said_since_other_readers_refuse_it(text: str | bytes) -> None:
    taken = _take(text)
    assert taken.files == _take(PLAIN).files
    assert [(one.code, one.line, one.column) for one in taken.findings] == [("IMPORT_FORM_ODD", 1, 1)]


def test_the_formats_own_keys() -> None:
    taken = _take(
        _named('license: MIT\ncompatibility: Needs git\nallowed-tools: Read Bash(git *)\nmetadata:\n  a: "1"')
    )
    found = _capability(taken)
    assert [found[key] for key in ("license", "compatibility", "allowed_tools", "metadata")] == [
        "MIT",
        "Needs git",
        "Read Bash(git *)",
        {"a": "1"},
    ]
    assert taken.findings == ()


NEBO = """name: introduction
description: First meeting — make them feel seen
version: "0.1.4"
priority: 100          # Highest
max_turns: 8
triggers:
  - hello, hi, Hello
  - who are you
tools:
  - agent
  - store
metadata:
  nebo:
    emoji: "👋"
    other: 1"""


XIAODAZI = """metadata:
  xiaodazi:
    dependency_level: external
    os: [win32]
    bins: [es]
    python_packages: [pypdf]
    api_key_env: KEY
    user_facing: true"""


def test_the_nebo_kind() -> None:
    found = _capability(_take(_skill(NEBO)))
    assert found["intent_triggers"] == ["hello", "hi", "who are you"]
    assert (found["priority"], found["max_turns"], found["allowed_tools"]) == (100, 8, ["agent", "store"])
    assert found["emoji"] == "👋"
    assert found["metadata"] == {"nebo": '{"other":"1"}', "version": "0.1.4"}


DEPENDENCIES = """dependency_level: external
dependencies:
  python: [openpyxl, pandas, matplotlib]
  bins: [ffmpeg]
  apps: [Excel]
  env: [API_KEY]
  permissions: [accessibility]"""


def test_dependencies_at_the_first_level_are_those_of_the_capability() -> None:
    taken = _take(_named(DEPENDENCIES))
    found = _capability(taken)
    assert found["dependencies"] == {
        "python": ["openpyxl", "pandas", "matplotlib"],
        "bins": ["ffmpeg"],
        "apps": ["Excel"],
        "env": ["API_KEY"],
        "permissions": ["accessibility"],
    }
    assert found["dependency_level"] == "external"
    assert "metadata" not in found
    assert "'dependencies.python' became dependencies.python" in [one.message for one in taken.findings]


def test_what_of_dependencies_does_not_fit_is_kept() -> None:
    found = _capability(_take(_named("dependencies:\n  python: [openpyxl]\n  node: [left-pad]")))
    assert found["dependencies"] == {"python": ["openpyxl"]}
    assert found["metadata"] == {"dependencies": '{"node":["left-pad"]}'}
    assert _capability(_take(_named("dependencies: [openpyxl]")))["metadata"] == {"dependencies": '["openpyxl"]'}


def test_dialects_lose_nothing() -> None:
    def check(cell: tuple[str, dict[str, Any]]) -> None:
        front_matter, expected = cell
        found = _capability(_take(_named(front_matter)))
        assert (
            found
            == {"capability_id": "x", "name": "x", "description": "Does x.", "skill_profile": "agent_skill"} | expected
        )

    check_each(
        [
            (
                (
                    'metadata: {"moltbot":{"emoji":"🔊","os":["macos"],'
                    '"requires":{"bins":["so"],"env":["K"]},"install":[]}}'
                ),
                {
                    "emoji": "🔊",
                    "os": ["darwin"],
                    "dependencies": {"bins": ["so"], "env": ["K"]},
                    "metadata": {"moltbot": '{"install":[]}'},
                },
            ),
            ("metadata:\n  openclaw: {emoji: x}", {"emoji": "x"}),
            (
                XIAODAZI,
                {
                    "os": ["win32"],
                    "dependency_level": "external",
                    "dependencies": {"bins": ["es"], "python": ["pypdf"], "env": ["KEY"]},
                    "metadata": {"xiaodazi": '{"user_facing":"true"}'},
                },
            ),
            (
                "os: common\ndependency_level: builtin\nskill_group: productivity",
                {"os": ["common"], "dependency_level": "builtin", "skill_groups": ["productivity"]},
            ),
            # What does not fit is kept as it was.
            ("priority: high", {"metadata": {"priority": "high"}}),
            ("triggers: [" + "x" * 81 + "]", {"metadata": {"triggers": json.dumps(["x" * 81])}}),
            (
                "metadata:\n  moltbot: {requires: {env: [A=b]}}",
                {"metadata": {"moltbot": '{"requires":{"env":["A=b"]}}'}},
            ),
            (
                "metadata:\n  moltbot: {os: [beos]}\n  nebo: t",
                {"metadata": {"moltbot": '{"os":["beos"]}', "nebo": "t"}},
            ),
            ("allowed-tools: {a: b}", {"metadata": {"allowed-tools": '{"a":"b"}'}}),
            ("version: 2\nmetadata:\n  version: '1'", {"metadata": {"version": "1", "front_matter_version": "2"}}),
            ("metadata: a text", {"metadata": {"metadata": "a text"}}),
            ("metadata:", {}),
            ("compatibility:\n  - git\n  - jq", {"compatibility": "git; jq"}),
        ],
        check,
    )


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("description: Search. Keywords: apollo, leads", "description", "Search. Keywords: apollo, leads"),
        ("description: It's: odd", "description", "It's: odd"),
        ("argument-hint: [date] [kind]", "metadata", {"argument-hint": "[date] [kind]"}),
    ],
)
def test_an_unquoted_value_is_rescued(line: str, key: str, value: Any) -> None:
    rest = "" if key == "description" else "\ndescription: Does x."
    taken = _take(_skill(f"name: x\n{line}{rest}"))
    assert _capability(taken)[key] == value
    rescued = next(finding for finding in taken.findings if finding.code == "IMPORT_YAML_RESCUED")
    assert (rescued.file, rescued.line, rescued.severity) == ("SKILL.md", 3, "warning")


def test_a_block_text_is_not_touched_by_the_rescue() -> None:
    taken = _take(_skill("name: x\ndescription: |\n  Use when: a: b\n  - c: d: e\nlicense: a: b"))
    assert _capability(taken)["description"] == "Use when: a: b\n- c: d: e"


def test_a_body_that_begins_like_a_front_matter_stays_a_body() -> None:
    taken = _take(_named("license: MIT") + "")
    body = "---\n\n# X\n\n---\nText.\n"
    report = validate_bundle(_take(_skill("name: x\ndescription: y", body)).files or {})
    assert report.bundle is not None
    assert report.bundle.skill_doc == body
    assert taken.findings == ()


# Playbooks and runbooks


def test_a_playbook_with_and_without_a_front_matter() -> None:
    bare = _take(PLAYBOOK_BODY)
    found = _capability(bare)
    assert found["capability_id"] == "reset_a_password"
    assert found["name"] == "Reset a password"
    assert found["playbook"] == {
        "problem": "Get the customer back in.",
        "conditions": ["A verified email"],
        "keywords": ["login", "locked out"],
        "product_area": "accounts",
    }
    assert validate_bundle(bare.files or {}).ok
    named = _take(_skill("name: reset\ndescription: Reset.\nproblem: Locked out\nconditions: [no SSO]", PLAYBOOK_BODY))
    playbook = _capability(named)["playbook"]
    assert (playbook["problem"], playbook["conditions"]) == ("Locked out", ["no SSO"])
    assert validate_bundle(named.files or {}).ok


def test_a_runbook() -> None:
    body = "# Disk\n\n## Meaning\na\n\n## Impact\nb\n\n## Diagnosis\nc\n\n## Mitigation\nd\n"
    taken = _take(_skill("name: disk\ndescription: Disk is full.", body))
    assert _capability(taken)["skill_profile"] == "runbook"
    assert validate_bundle(taken.files or {}).ok


# Four files


def test_a_bundle_stays_as_it_is() -> None:
    files = bundle()
    assert import_skill(SourceBundle("path", files)) == ImportedSkill("path", files)
    odd = {("Skill.MD" if name == "skill.md" else name): text for name, text in files.items()}
    taken = import_skill(SourceBundle("path", odd))
    assert (taken.files, _codes(taken)) == (files, ["IMPORT_FILE_NAME"])


def test_a_skill_md_beside_tools_json_is_a_bundle_that_lacks_a_file() -> None:
    files = {"skill.md": "# X\n", "tools.json": "[]"}
    assert import_skill(SourceBundle("path", files)).files == files


# Every code


REFUSED: list[tuple[str, str | bytes]] = [
    ("IMPORT_FRONT_MATTER_UNUSABLE", "# Only a title\n"),
    ("IMPORT_FRONT_MATTER_UNUSABLE", "---\nname: x\n"),
    ("IMPORT_FRONT_MATTER_UNUSABLE", "---\n- a\n---\n"),
    ("IMPORT_FRONT_MATTER_UNUSABLE", "---\n---\nx\n"),
    ("IMPORT_FRONT_MATTER_UNUSABLE", "---\n[\n---\n"),
    ("IMPORT_NAME_UNUSABLE", _skill("description: y")),
    ("IMPORT_NAME_UNUSABLE", _skill("name: []\ndescription: y")),
    ("IMPORT_NAME_UNUSABLE", _skill("name: 🚀\ndescription: y")),
    ("IMPORT_DESCRIPTION_UNUSABLE", _skill("name: x")),
    ("IMPORT_DESCRIPTION_UNUSABLE", _skill("name: x\ndescription:")),
    ("IMPORT_DESCRIPTION_UNUSABLE", _skill("name: x\ndescription: {a: b}")),
    ("TEXT_NOT_UTF8", b"---\nname: \xff\n---\n"),
    ("FILE_TOO_LARGE", PLAIN + "x" * 1024 * 1024),
]
KEPT: list[tuple[str, str, dict[str, Any]]] = [
    ("IMPORT_YAML_RESCUED", _skill("name: x\ndescription: a: b"), {}),
    ("IMPORT_KEY_LOST", _named("license: a\nlicense: b"), {}),
    ("IMPORT_YAML_DROPPED", _named("license: MIT #1"), {}),
    ("IMPORT_KEY_MAPPED", _named("emoji: x"), {}),
    ("IMPORT_KEY_MOVED", _named("author: Ann"), {}),
    ("IMPORT_VALUE_TO_TEXT", _named("metadata:\n  a: [b]"), {}),
    ("IMPORT_VALUE_TO_TEXT", _named("metadata:\n  a: 1.0"), {}),
    ("IMPORT_VALUE_TO_TEXT", _named("license: [a]"), {}),
    ("IMPORT_VALUE_TO_TEXT", _skill("name: x\ndescription: [a, b]"), {}),
    ("IMPORT_FORM_ODD", _named("allowed-tools: [Read]"), {}),
    ("IMPORT_FORM_ODD", _skill(f"name: x\ndescription: {'d' * 1025}"), {}),
    ("IMPORT_NAME_CHANGED", _skill("name: Cold Email\ndescription: y"), {}),
    ("IMPORT_NAME_CHANGED", _skill("name: a_b\ndescription: y"), {}),
    ("IMPORT_NAME_CHANGED", _skill("description: y"), {"folder": "data"}),
    ("IMPORT_ID_PROPOSED", _skill("name: 数据\ndescription: y"), {"folder": "data"}),
    ("IMPORT_NAME_DIFFERS", PLAIN, {"folder": "pdf"}),
    ("IMPORT_FILE_NAME", PLAIN, {"name": "skill.md"}),
    ("IMPORT_FILE_LEFT_OUT", PLAIN, {"references/api.md": "x", ".env.example": "x"}),
    ("IMPORT_PROFILE_CHOSEN", _skill("name: x\ndescription: y", PLAYBOOK_BODY), {}),
]


def test_what_cannot_be_read_is_refused_with_the_cause() -> None:
    def check(cell: tuple[str, str | bytes]) -> None:
        code, text = cell
        taken = _take(text)
        assert taken.files is None
        found = next(finding for finding in taken.findings if finding.code == code)
        assert (found.severity, found.file) == ("error", "SKILL.md")

    check_each(REFUSED, check)


def test_what_can_be_read_is_kept_with_a_warning() -> None:
    def check(cell: tuple[str, str, dict[str, Any]]) -> None:
        code, text, options = cell
        taken = _take(text, **options)
        assert taken.files is not None
        assert code in _codes(taken)
        assert {finding.severity for finding in taken.findings} == {"warning"}

    check_each(KEPT, check)


def test_every_code_of_an_import_is_raised() -> None:
    of_sources = {"IMPORT_FILE_UNREADABLE", "IMPORT_SKILL_INSIDE"}
    of_tools = {"IMPORT_TOOLS_CONVERTED", "IMPORT_SCHEMA_REWRITTEN", "IMPORT_SCHEMA_LOST"}
    elsewhere = {"IMPORT_EXPORT_CHANGED", *of_tools, *of_sources}
    assert {code for code in list_codes() if code.startswith("IMPORT_")} - elsewhere <= {row[0] for row in REFUSED} | {
        row[0] for row in KEPT
    }


_PIECES = st.lists(
    st.sampled_from(
        ["---\n", "name: x\n", "description: y\n", "metadata:\n", "  a: b\n", "a: [", "]", "{", "}", "- ", ": ", "|\n",
         "&a ", "*a", "!!int ", "'", '"', "#", "\t", "\n", "  ", "\0", "\u2028", "é", "x" * 200,
         "[" * 60, "## Goal\n", "? "]
    ),
    max_size=25,
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(_PIECES)
def test_no_text_makes_an_import_fail(pieces: list[str]) -> None:
    taken = _take("".join(pieces))
    assert taken.files is not None or any(finding.is_error for finding in taken.findings)


@pytest.mark.slow
@pytest.mark.parametrize("mark", ["[", "{a: ", "- ", "? "])
def test_a_deep_front_matter_is_refused_in_time(mark: str) -> None:
    deep = mark * (15_000 // len(mark))
    for text in (f"---\nname: x\ndescription: y\na: {deep}\n---\n", f"---\n{deep}\n---\n"):
        with costs.at_most(400):
            taken = _take(text)
            assert taken.files is None or "IMPORT_YAML_RESCUED" in _codes(taken)
            assert not validate_bundle(bundle() | {"skill.md": text}).ok


def test_a_finding_points_at_its_key() -> None:
    (finding,) = _take(_named("author: Ann")).findings
    assert (finding.pointer, finding.line, finding.column) == ("/author", 4, 1)
    (finding,) = _take(_named("metadata:\n  a: [b]")).findings
    assert (finding.pointer, finding.line, finding.column) == ("/metadata/a", 5, 3)
    mapped, kept = _take(_named("metadata:\n  openclaw:\n    os: linux\n    x: 1")).findings
    assert [(one.pointer, one.line, one.column) for one in (mapped, kept)] == [
        ("/metadata/openclaw/os", 6, 5),
        ("/metadata/openclaw", 5, 3),
    ]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("---\nname: x\ndescription: [\n", ("IMPORT_FRONT_MATTER_UNUSABLE", 1, 1)),
        ("---\n? [a: b\n---\n", ("IMPORT_FRONT_MATTER_UNUSABLE", 3, 1)),
        ("---\nname: x\n\nA text.\n---\n", ("IMPORT_FRONT_MATTER_UNUSABLE", 5, 1)),
        (b"---\nname: x\ndescription: y \xff\n---\n", ("TEXT_NOT_UTF8", 3, 16)),
        (_named("license: a\nlicense: b"), ("IMPORT_KEY_LOST", 5, 1)),
        (_named("metadata:\n  a: b\n  a: c"), ("IMPORT_KEY_LOST", 6, 3)),
        (_named("license: MIT #1"), ("IMPORT_YAML_DROPPED", 4, 14)),
        (_named("a:\n  b: c: d"), ("IMPORT_YAML_RESCUED", 5, 3)),
        (_skill("DESCRIPTION: y\nname: X"), ("IMPORT_FORM_ODD", 2, 1)),
        (_skill("DESCRIPTION: [y]\nname: x"), ("IMPORT_VALUE_TO_TEXT", 2, 1)),
        (_skill("Name: X Y\ndescription: y"), ("IMPORT_NAME_CHANGED", 2, 1)),
    ],
)
def test_a_finding_has_its_place_in_the_authors_text(text: str | bytes, place: tuple[str, int, int]) -> None:
    found = [(one.code, one.line, one.column) for one in _take(text).findings]
    assert place in found, found


def test_a_front_matter_further_down_is_named() -> None:
    (finding,) = _take(f"<!-- markdownlint -->\n{PLAIN}").findings
    assert (finding.code, finding.hint) == (
        "IMPORT_FRONT_MATTER_UNUSABLE",
        "Line 2 has the --- that must be on line 1.",
    )


def test_keys_of_the_format_are_taken_however_they_are_spelled() -> None:
    taken = _take(_skill("Name: x\nDESCRIPTION: y\nLicense: MIT\nAllowed_Tools: Read"))
    found = _capability(taken)
    assert [found[key] for key in ("capability_id", "description", "license", "allowed_tools")] == [
        "x",
        "y",
        "MIT",
        "Read",
    ]
    assert [(one.code, one.pointer) for one in taken.findings] == [
        ("IMPORT_FORM_ODD", f"/{key}") for key in ("Name", "DESCRIPTION", "License", "Allowed_Tools")
    ]
    both = _capability(_take(_named("Name: other")))
    assert (both["capability_id"], both["metadata"]) == ("x", {"Name": "other"})


@pytest.mark.parametrize(
    ("folder", "as_id", "expected"),
    [
        ("pdf-tools", "", "pdf_tools"),
        ("PDF Tools", "", "pdf_tools"),
        ("", "from_me", "from_me"),
        ("pdf", "mine", "mine"),
    ],
)
def test_a_skill_without_a_name_has_that_of_its_folder_or_of_its_id(folder: str, as_id: str, expected: str) -> None:
    taken = import_skill(SourceBundle("path", {"SKILL.md": _skill("description: y")}, folder, as_id))
    found = _capability(taken)
    assert (found["capability_id"], found["name"]) == (expected, expected.replace("_", "-"))
    assert _codes(taken) == ["IMPORT_NAME_CHANGED"]
    assert _codes(_take(_skill("description: y"))) == ["IMPORT_NAME_UNUSABLE"]


@pytest.mark.parametrize(
    ("name", "proposed"), [("мой-навык", "moy_navyk"), ("café-menu", "cafe_menu"), ("数据", "skill_")]
)
def test_a_name_in_any_letters_is_kept_and_an_id_is_proposed_or_given(name: str, proposed: str) -> None:
    text = _skill(f"name: {name}\ndescription: y")
    taken = _take(text, folder=name)
    found = _capability(taken)
    assert found["name"] == name
    assert found["capability_id"].startswith(proposed)
    assert (_codes(taken), found["capability_id"] in taken.findings[0].message) == (["IMPORT_ID_PROPOSED"], True)
    given_id = import_skill(SourceBundle("path", {"SKILL.md": text}, name, "tea"))
    assert (_capability(given_id)["capability_id"], _codes(given_id)) == ("tea", [])
    said = _take(_skill(f"name: {name}\ndescription: y\nmetadata:\n  capability_id: coffee"), folder=name)
    assert (_capability(said)["capability_id"], _codes(said)) == ("coffee", [])


def test_files_that_are_left_out_are_named() -> None:
    others = {f"scripts/{number:02}.py": "" for number in range(25)}
    (finding,) = import_skill(SourceBundle("path", {"SKILL.md": PLAIN, **others})).findings
    assert "25 files" in finding.message
    assert "scripts/19.py and 5 more" in finding.message


# What stands beside it


def _beside(taken: ImportedSkill) -> list[str]:
    return sorted(set(taken.files or {}) - {"capability.json", "skill.md", "tools.json", "ui_schemas.json"})


@pytest.mark.slow
def test_all_that_fits_beside_a_skill_is_kept() -> None:
    others = {"assets/a.csv": "x" * (MIB - 500), "references/b.md": "x" * (MIB - 500), "scripts/c.py": "x" * 100}
    taken = _take(PLAIN, **others)
    assert _beside(taken) == sorted(others)
    assert taken.findings == ()
    assert validate_bundle(taken.files or {}).ok


def test_what_does_not_fit_is_left_out_and_what_is_smaller_behind_it_is_not() -> None:
    others = {"references/a.md": "x" * MIB, "references/b.md": "x" * MIB, "references/c.md": "x" * 100}
    taken = _take(PLAIN, **others)
    assert _beside(taken) == ["references/a.md", "references/c.md"]
    assert [finding.file for finding in taken.findings] == ["references/b.md"]
    assert validate_bundle(taken.files or {}).ok


def test_the_four_files_that_come_along_take_their_room_first() -> None:
    large = tool("alpha_get")
    large["args_schema"]["$comment"] = "x" * (MIB - 20_000)
    given = validate_bundle(bundle("alpha", [large], body="x" * 300_000)).bundle
    assert given is not None
    exported = export_skill_files(given)
    fitting = {"references/a.md": "x" * (MIB - 300_000), "references/z.md": "x" * 1000}
    again = import_skill(SourceBundle("path", exported | fitting))
    assert _beside(again) == sorted(fitting)
    over = {"references/a.md": "x" * (MIB - 100), "references/b.md": "x" * 30_000}
    again = import_skill(SourceBundle("path", exported | over))
    assert _beside(again) == ["references/b.md"]
    assert validate_bundle(again.files or {}).ok


def test_a_text_that_a_reader_has_cut_is_not_kept() -> None:
    lines = b"line\r\n" * 200_000
    taken = import_skill(SourceBundle("path", {"SKILL.md": PLAIN, "references/long.md": lines[: MIB + 1]}))
    assert _beside(taken) == []
    assert _codes(taken) == ["IMPORT_FILE_LEFT_OUT"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("disable-model-invocation: true", "only where the user names it"),
        ("user-invocable: false", "not offered to users"),
        ("disable-model-invocation: false", "kept as metadata"),
    ],
)
def test_a_key_that_does_something_is_said_by_its_effect(line: str, words: str) -> None:
    found = import_skill(SourceBundle("x", {"SKILL.md": _named(line)})).findings
    (moved,) = [one for one in found if one.code == "IMPORT_KEY_MOVED"]
    assert words in moved.message
