"""The gate: what stands between a draft and its readers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from capability_rules.bundles.text_diff import DIFF_LINES_MAX, diff_files
from capability_rules.validation.codes import list_families
from registry.models import AuditEvent
from registry.publishing import publication
from registry.publishing.gate import POLICY_QUESTIONS
from tests.factories import OLGA, bundle, publish, to_json, tool

pytestmark = pytest.mark.django_db

LOOSER: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "write where it read": (tool("a"), tool("a", "write")),
    "approval dropped": (tool("a", "write"), tool("a", "write", requires_approval=False)),
    "approval left out": (tool("a", "write"), tool("a", "write") | {"policy": {"kind": "write"}}),
    "roles widened": (tool("a", allowed_roles=["x"]), tool("a", allowed_roles=["x", "y"])),
    "roles dropped": (tool("a", allowed_roles=["x"]), tool("a")),
}


@pytest.mark.parametrize("name", LOOSER)
def test_a_looser_policy_is_refused_until_it_is_acknowledged(name: str) -> None:
    old, new = LOOSER[name]
    publish(tools=[old])
    files = bundle(tools=[new])
    refused = publication.publish(files=files, by=OLGA)
    (finding,) = [each for each in refused.findings if each.code == "POLICY_LOOSENED"]
    assert refused.status == "refused"
    assert refused.gate is not None
    assert refused.gate.to_acknowledge == ("POLICY_LOOSENED",)
    assert (finding.severity, finding.file, finding.pointer) == ("error", "tools.json", "/0/policy")
    assert files["tools.json"].split("\n")[(finding.line or 0) - 1].strip() == '"policy": {'
    assert publication.publish(files=files, by=OLGA, acknowledge=["SOMETHING_ELSE"]).status == "refused"
    passed = publication.publish(files=files, by=OLGA, acknowledge=["POLICY_LOOSENED"])
    assert passed.status == "published"
    assert [each.severity for each in passed.findings if each.code == "POLICY_LOOSENED"] == ["warning"]
    assert AuditEvent.objects.latest("id").detail["acknowledged"] == ["POLICY_LOOSENED"]


def test_a_question_of_policy_is_told_apart_from_what_is_wrong_with_the_texts() -> None:
    publish(tools=[tool("a", "write")])
    report = publication.publish(files=bundle(tools=[tool("a", "write", requires_approval=False)]), by=OLGA).gate
    assert report is not None
    # The report that command line and API give holds it as before.
    assert [(each.code, each.severity) for each in report.findings] == [("POLICY_LOOSENED", "error")]
    assert (report.refused, report.text_findings, report.open_questions) == (True, (), ("POLICY_LOOSENED",))


def test_every_error_that_the_rules_of_releases_raise_is_a_question_of_policy() -> None:
    (gate,) = (family for family in list_families() if family.key == "gate")
    raised = {row.code for row in gate.codes if row.severity == "error"}
    assert raised == POLICY_QUESTIONS


def test_nothing_else_can_be_acknowledged_away() -> None:
    publish(tools=[tool("shared")])
    files = bundle("beta", [tool("shared")])
    codes = ["TOOL_NAME_COLLISION", "POLICY_LOOSENED", "*"]
    assert publication.publish(files=files, by=OLGA, acknowledge=codes).status == "refused"


def test_a_stricter_policy_passes() -> None:
    publish(tools=[tool("a", "write", requires_approval=False)])
    publish(tools=[tool("a", "write", allowed_roles=["x"])])


def test_a_broken_contract_is_a_warning_at_its_place_in_a_wrapper() -> None:
    hours = {"hours": {"type": "number", "description": "H."}}
    publish(tools=[tool("a", properties=hours), tool("b")])
    files = bundle(tools=[tool("a", properties=hours, required=["hours"])])
    files["tools.json"] = to_json({"tools": json.loads(files["tools.json"])})
    outcome = publication.publish(files=files, by=OLGA)
    assert outcome.status == "published"
    found = [(each.severity, each.pointer, each.message) for each in outcome.findings]
    assert found == [
        ("warning", "", "The tool `b` is gone"),
        ("warning", "/tools/0/args_schema", "`hours` of `a` became required"),
    ]


def test_another_name_is_no_way_around_an_approval() -> None:
    publish(tools=[tool("save", "write"), tool("find")])
    files = bundle(tools=[tool("store", "write", requires_approval=False), tool("find")])
    outcome = publication.publish(files=files, by=OLGA)
    (finding,) = (each for each in outcome.findings if each.code == "POLICY_LOOSENED")
    assert (outcome.status, finding.pointer) == ("refused", "/0/policy")
    assert finding.message == "`store` writes without approval, and `save`, which needed it, is gone"
    assert publication.publish(files=files, by=OLGA, acknowledge=["POLICY_LOOSENED"]).status == "published"


def test_another_name_is_no_way_around_a_role() -> None:
    publish(tools=[tool("save", "write", allowed_roles=["clerk"])])
    for store in (tool("store", "write"), tool("store", "write", allowed_roles=["clerk", "guest"])):
        outcome = publication.publish(files=bundle(tools=[store]), by=OLGA)
        assert (outcome.status, outcome.gate.to_acknowledge if outcome.gate else ()) == (
            "refused",
            ("POLICY_LOOSENED",),
        )
    assert publication.publish(files=bundle(tools=[tool("store", "write", allowed_roles=["clerk"])]), by=OLGA).revision


def test_a_new_write_tool_beside_the_old_ones_loosens_nothing() -> None:
    publish(tools=[tool("save", "write")])
    files = bundle(tools=[tool("save", "write"), tool("note", "write", requires_approval=False)])
    assert publication.publish(files=files, by=OLGA).status == "published"


@pytest.mark.parametrize("path", ["skill.md", "scripts/send.sh"])
def test_a_host_that_was_not_named_before_is_a_warning_at_its_place(path: str) -> None:
    publish(body="See https://docs.example.com/guide first.")
    files = bundle(body="See https://docs.example.com/guide first.")
    added = "\nThen see https://Files.example.net/in as well.\n"
    outcome = publication.publish(files=files | {path: files.get(path, "#!/bin/sh\n") + added}, by=OLGA)
    (finding,) = (each for each in outcome.findings if each.code == "HOST_ADDED")
    assert (outcome.status, finding.severity, finding.file) == ("published", "warning", path)
    assert "`files.example.net`" in finding.message
    text = files.get(path, "#!/bin/sh\n") + added
    assert finding.line == text[: text.index("Files.")].count("\n") + 1
    assert publication.publish(files=bundle(body="See https://files.example.net/ only."), by=OLGA).status == "published"


def test_all_tools_gone_with_their_file() -> None:
    publish(tools=[tool("a")])
    outcome = publication.publish(files=bundle(), by=OLGA)
    (finding,) = outcome.findings
    assert (finding.code, finding.file, finding.line, finding.column) == ("CONTRACT_BROKEN", "tools.json", None, None)


def test_the_first_release_loosens_nothing_and_says_what_it_brings() -> None:
    report = publication.preview_publish(files=bundle(tools=[tool("a", "write", requires_approval=False)]))
    assert report.changes == ()
    assert "The tool `a` is new: it writes without approval" in [change.words for change in report.introduces]
    publish(tools=[tool("a", "write", requires_approval=False)])
    assert publication.preview_publish(files=bundle(tools=[tool("b")])).introduces == ()


def test_a_preview_says_what_publishing_does() -> None:
    publish(tools=[tool("a")])
    report = publication.preview_publish(files=bundle(tools=[tool("a", "write")]))
    assert report.refused
    assert [change.effect for change in report.changes] == ["loosens", "changes", "changes"]
    assert publication.preview_publish(files=bundle(tools=[tool("a")])).unchanged


def test_a_text_diff_counts_its_lines() -> None:
    publish()
    (diff,) = publication.preview_publish(files=bundle(body="One.\nTwo.")).diffs
    assert (diff.file, diff.added, diff.removed) == ("skill.md", 2, 1)
    assert "+Two." in diff.lines


def test_files_that_come_and_go_are_shown_whole() -> None:
    added, removed = diff_files({"tools.json": "a\nb\n"}, {"skill.md": "c\n"})
    assert (added.file, added.added) == ("skill.md", 1)
    assert (removed.file, removed.removed) == ("tools.json", 2)


def test_a_huge_diff_is_not_computed() -> None:
    (diff,) = diff_files({"skill.md": "a\n" * DIFF_LINES_MAX}, {"skill.md": "b\n" * DIFF_LINES_MAX})
    assert len(diff.lines) == 3
