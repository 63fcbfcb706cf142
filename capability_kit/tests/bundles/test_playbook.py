"""A playbook as structure and back (docs/requirements.md D)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capability_kit.bundles.playbook import Part, PlaybookDoc, PlaybookSection, PlaybookStep
from capability_rules.validation import validate_bundle
from tests.bundle_files import bundle

REFUND = (Path(__file__).resolve().parents[3] / "examples/billing_refund/skill.md").read_text()
LINES = st.sampled_from(
    ["# T\n", "## Steps\n", "## Goal\r\n", "### 1. Look\n", "### Step 2: Go\n", "**Do:** a\n", "- **Check**: b\n",
     "__Say:__ c\n", "```\n", "~~~~\n", "text\n", "\n", "  ## Steps ##\n", "\u2028", "x"]
)  # fmt: skip


def test_each_step_says_what_to_do_check_and_say() -> None:
    steps = PlaybookDoc.read(REFUND).steps
    assert [(step.number, step.title) for step in steps] == [
        (1, "Look up the plan and the payment"),
        (2, "Work out the unused part"),
        (3, "Offer refund or credit"),
        (4, "Pay it"),
    ]
    assert steps[0].check == "The invoice is paid, and no dispute is open on it."
    assert steps[3].say == '"Done. It takes five to ten working days to arrive."'
    assert steps[3].do.startswith("Call `billing_refund_create`")


def test_sections_by_name() -> None:
    doc = PlaybookDoc.read(REFUND)
    names = ["Goal", "Prerequisites", "Steps", "Edge Cases", "Escalation"]
    assert [section.name for section in doc.sections] == names
    found = doc.section("edge cases")
    assert found is not None
    assert "500 USD" in found.text
    assert doc.section("Goals") is None


@given(st.lists(LINES, max_size=30).map("".join) | st.text())
def test_any_text_comes_back_letter_for_letter(text: str) -> None:
    doc = PlaybookDoc.read(text)
    assert doc.markdown() == text
    assert PlaybookDoc.from_dict(json.loads(json.dumps(doc.as_dict()))) == doc


def test_fenced_headings_and_marks_are_code() -> None:
    text = "## Steps\n### 1. Run\n**Do:** this\n```\n### 2. No\n**Say:** no\n```\n**Say:** yes\n"
    (step,) = PlaybookDoc.read(text).steps
    assert step.say == "yes"
    assert "### 2. No" in step.do


@pytest.mark.parametrize(
    ("heading", "number", "title"),
    [
        ("### 3. Look up", 3, "Look up"),
        ("### Step 12: Call\r\n", 12, "Call"),
        ("### Look up", None, "Look up"),
        ("###", None, ""),
        ("### 7", 7, ""),
    ],
)
def test_how_steps_are_numbered(heading: str, number: int | None, title: str) -> None:
    step = PlaybookStep(heading)
    assert (step.number, step.title) == (number, title)


def test_a_new_playbook_passes_the_gate() -> None:
    steps = [
        PlaybookStep.of(1, "Look up the order", do="Call the shop.", check="It is paid.", say='"One moment."'),
        PlaybookStep.of(2, "Pay it back", do="Refund it.", check="An id came back.", say='"Done."'),
    ]
    doc = PlaybookDoc.of(
        "Refunds", goal="Money back.", prerequisites=["It is paid"], steps=steps,
        edge_cases=["Too old: no refund"], escalation="Above 500 USD.",
    )  # fmt: skip
    read = PlaybookDoc.read(doc.markdown())
    assert [(step.number, step.title, step.do, step.check, step.say) for step in read.steps] == [
        (step.number, step.title, step.do, step.check, step.say) for step in steps
    ]
    files = bundle(
        "refunds", skill_profile="playbook", playbook={"problem": "Wants a refund", "conditions": [], "keywords": []}
    )
    assert validate_bundle(files | {"skill.md": doc.markdown()}).findings == ()


def test_one_word_is_changed_and_all_else_stays() -> None:
    doc = PlaybookDoc.read(REFUND)
    steps = doc.section("Steps")
    assert steps is not None
    first = steps.steps[0]
    parts = tuple(Part("say", '**Say:** "Hello."\n\n') if part.kind == "say" else part for part in first.parts)
    changed = replace(steps, steps=(replace(first, parts=parts), *steps.steps[1:]))
    sections = tuple(changed if section is steps else section for section in doc.sections)
    text = replace(doc, sections=sections).markdown()
    assert text == REFUND.replace(
        '"Thanks, I can see your annual payment. Let me work out what\'s left of it."', '"Hello."'
    )


def test_sections_without_steps_have_none() -> None:
    assert PlaybookDoc.read("## Goal\n### 1. Not a step\n") == PlaybookDoc(
        "", (PlaybookSection("## Goal\n", "### 1. Not a step\n"),)
    )
