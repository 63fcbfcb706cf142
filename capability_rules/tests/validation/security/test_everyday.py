"""What ordinary authors write is not refused and hardly ever held: sentences, published skills, generated bundles."""

from __future__ import annotations

import lzma
import os
import sys
from collections import Counter
from pathlib import Path

import pytest

from capability_rules.bundles.scaffolds import PROFILES, build_scaffold
from capability_rules.tests.validation.security.pages import verdict, verdict_of_page
from capability_rules.validation import validate_bundle
from capability_rules.validation.security.scanner import check_texts
from capability_rules.validation.security.text_corpus import AuthorText
from tests.bundle_files import bundle, tool

ROOT = Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "bench"))

from security_cases import read_everyday  # noqa: E402 -- bench/ is a folder of scripts, not a package

SENTENCES = [sentence for sentences in read_everyday().values() for sentence in sentences]
NOUNS = ("parcel", "invoice", "shift", "meter", "room", "ticket", "lesson", "claim", "tenant", "order")
VERBS = ("list", "show", "count", "note", "plan", "check")


def test_of_everyday_sentences_none_is_refused_and_two_percent_are_held_at_most() -> None:
    verdicts = {sentence: verdict_of_page(sentence) for sentence in SENTENCES}
    counts = Counter(verdicts.values())
    assert [sentence for sentence, seen in verdicts.items() if seen == "error"] == []
    assert len(SENTENCES) > 2_000
    assert counts["warning"] <= 0.02 * len(verdicts)


def test_of_generated_bundles_none_is_held() -> None:
    held = []
    for number in range(300):
        noun, verb = NOUNS[number % 10], VERBS[number % 6]
        name = f"cap_{number:05d}_{verb}"
        files = bundle(
            f"cap_{number:05d}",
            name=f"{noun.capitalize()} {verb} {number}",
            description=f"Amounts of {noun}",
            tools=[tool(name, description=f"Amounts of {noun}.")],
            body=f"Amounts of {noun}: {verb} them by day, ask for the unit, and say the total.",
        )
        held += [one for one in validate_bundle(files).findings if one.code.startswith("SEC_")]
    assert held == []


def read_real_skills() -> list[str]:
    """The published skills of the folder that REAL_SKILLS names, else the paragraphs of those in bench/, by forty."""
    if "REAL_SKILLS" in os.environ:
        paths = [path for path in Path(os.environ["REAL_SKILLS"]).rglob("*") if path.name.upper() == "SKILL.MD"]
        return [path.read_text("utf-8", "replace") for path in paths]
    committed = ROOT / "bench" / "security_training" / "ordinary" / "agent-skills.txt.xz"
    paragraphs = lzma.decompress(committed.read_bytes()).decode("utf-8").split("\n\n")
    return ["\n\n".join(paragraphs[at : at + 40]) for at in range(0, len(paragraphs), 40)]


@pytest.mark.rare
def test_of_real_skills_none_is_refused_and_eight_percent_are_held_at_most() -> None:
    texts = read_real_skills()
    verdicts = [verdict(check_texts([AuthorText("skill.md", (), text)])) for text in texts]
    assert [text[:200] for text, seen in zip(texts, verdicts, strict=True) if seen == "error"] == []
    assert verdicts.count("warning") <= 0.08 * len(texts)


@pytest.mark.parametrize("profile", PROFILES)
def test_first_draft_of_a_profile_is_not_held(profile: str) -> None:
    files = build_scaffold(
        capability_id="parcels", name="Parcels", description="Counts parcels.", skill_profile=profile
    )
    assert [one for one in validate_bundle(files).findings if one.code.startswith("SEC_")] == []
