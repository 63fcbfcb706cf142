"""Hostile passages are found, in skill.md and in the strings of tools.json, in many languages and disguises.

Those of the rules stand in `examples` of their files: `refused` has to be an error, `held` a warning.
"""

from __future__ import annotations

from capability_kit.prompt_fence import fence, fence_list, fence_user
from capability_rules.tests.validation.security.hostile_lines import ALL
from capability_rules.tests.validation.security.pages import (
    codes_of_page,
    list_examples,
    verdict_of_description,
    verdict_of_page,
)


def test_what_a_rule_refuses_is_an_error_with_its_code() -> None:
    for file, code, passage in list_examples("refused"):
        assert verdict_of_page(passage) == "error", f"{file}: {passage}"
        assert code in codes_of_page(passage), f"{file}: {passage}"


def test_no_text_may_write_a_line_of_a_fence() -> None:
    marker = "f2e10eb1e8cf385b"
    for fenced in (fence("weights", "x", marker), fence_user("weights", "x", marker), fence_list("x")):
        for line in (fenced.splitlines()[0], fenced.splitlines()[-1]):
            for text in (line, line.replace(" ", "\n"), line.upper()):
                assert "SEC_ROLE_TAG" in codes_of_page(text), text
                assert verdict_of_page(text) == "error", text


def test_what_a_rule_holds_is_a_warning_with_its_code() -> None:
    for file, code, passage in list_examples("held"):
        assert verdict_of_page(passage) == "warning", f"{file}: {passage}"
        assert code in codes_of_page(passage), f"{file}: {passage}"


def test_what_a_rule_finds_in_a_page_it_finds_in_a_tool_description() -> None:
    for kind in ("refused", "held"):
        for file, _, passage in list_examples(kind):
            assert verdict_of_description(passage) != "none", f"{file}: {passage}"


def test_disguises_and_what_detectors_look_for_are_found() -> None:
    for name, passage, least in ALL:
        for verdict in (verdict_of_page(passage), verdict_of_description(passage)):
            assert verdict == "error" if least == "refused" else verdict != "none", f"{name}: {passage}"
