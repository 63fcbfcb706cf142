"""One marker for all fences of a prompt: it stands in none of its texts, and to know it one has to know all of them."""

from __future__ import annotations

import re
from typing import Any

import pytest

from capability_client.tests.registries import bundle, example
from capability_kit import prompt_fence
from capability_kit.environment.readiness import Missing, Readiness
from capability_kit.prompt import PromptContext, render_prompt
from tests.bundle_files import tool

KNOWN, NEXT = "0123456789abcdef", "fedcba9876543210"
FILE = {"path": "references/a.md", "digest": f"sha256:{'1' * 64}", "size": 3}


def _marker(*bundles: Any, **given: Any) -> str:
    """The one marker of the prompt."""
    prompt = render_prompt(bundles, **given).prompt
    fences = re.findall(r"^</?skill \w+ ([0-9a-f]{16})>$", prompt, re.MULTILINE)
    assert len(fences) >= 2
    (marker,) = set(fences)
    return str(marker)


def test_all_skills_of_a_prompt_have_one_marker() -> None:
    prompt = render_prompt([example("weights"), example("workouts"), bundle("alpha")]).prompt
    marker = _marker(example("weights"), example("workouts"), bundle("alpha"))
    assert prompt.count(marker) == 6


PLACES: dict[str, dict[str, Any]] = {
    "text": {"skill_doc": f"# B\n\n{KNOWN}"},
    "text, in capitals": {"skill_doc": f"# B\n\n{KNOWN.upper()}"},
    "text behind the cut": {"skill_doc": "# B\n\n" + "line\n" * 4000 + KNOWN},
    "name": {"capability": {"name": KNOWN}},
    "description": {"capability": {"description": KNOWN}},
    "key of a fact": {"capability": {"metadata": {KNOWN: "x"}}},
    "tool": {"tools": [tool("beta_do") | {"description": KNOWN}]},
    "name of an argument": {"tools": [tool("beta_do", properties={f"a{KNOWN}": {}})]},
    "value of an argument": {"tools": [tool("beta_do", properties={"x": {"enum": [[KNOWN]]}})]},
    "form": {"ui_schemas": [{"title": KNOWN}]},
    "path of a file": {"files": [FILE | {"path": f"references/{KNOWN}.md"}]},
    "tool that is withheld": {"withheld_tools": [f"a{KNOWN}"]},
    "successor": {"replaced_by": f"a{KNOWN}"},
}
EXTRAS: dict[str, dict[str, Any]] = {
    "arguments": {"arguments": {"beta": KNOWN}},
    "preamble": {"extras": PromptContext(preamble=KNOWN)},
    "hint": {"extras": PromptContext(hints=(KNOWN,))},
    "context": {"extras": PromptContext(user_context={KNOWN: 1})},
    "variable": {"extras": PromptContext(variables={"NAME": KNOWN})},
    "reason": {"readiness": {"beta": Readiness("NEED_SETUP", (Missing("bins", "x", KNOWN),))}},
}


@pytest.fixture
def candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first marker that is tried is one that an author has found out."""
    monkeypatch.setattr(prompt_fence, "_candidates", lambda seed: iter([KNOWN, NEXT]))


@pytest.mark.usefixtures("candidates")
def test_what_stands_in_no_text_is_the_marker() -> None:
    assert _marker(example("weights"), bundle("beta")) == KNOWN


@pytest.mark.usefixtures("candidates")
@pytest.mark.parametrize("status", ["READY", "NEED_SETUP"])
@pytest.mark.parametrize("changed", PLACES.values(), ids=PLACES)
def test_what_stands_in_a_bundle_is_not_the_marker(changed: dict[str, Any], status: Any) -> None:
    """Nor where the bundle is only named, or left out for want of room."""
    beta, judged = bundle("beta", **changed), {"beta": Readiness(status)}
    assert _marker(example("weights"), beta, readiness=judged) == NEXT
    assert _marker(example("weights"), beta, readiness=judged, characters_max=3000) == NEXT


@pytest.mark.usefixtures("candidates")
@pytest.mark.parametrize("given", EXTRAS.values(), ids=EXTRAS)
def test_what_stands_beside_the_bundles_is_not_the_marker(given: dict[str, Any]) -> None:
    assert _marker(example("weights"), bundle("beta", skill_doc="# B $NAME"), **given) == NEXT


def test_who_does_not_know_all_of_a_prompt_does_not_know_its_marker() -> None:
    """What is loaded later in the conversation may say what it knows: the texts of files, another bundle."""
    weights, beta = example("weights"), bundle("beta")
    private = PromptContext(preamble="You are the assistant of this house.")
    found = [
        _marker(weights),
        _marker(weights, beta),
        _marker(beta, weights),
        _marker(weights, bundle("beta", skill_doc="# B")),
        _marker(weights, bundle("beta", files=[FILE])),
        _marker(weights, bundle("beta", files=[FILE | {"digest": f"sha256:{'2' * 64}"}])),
        _marker(weights, beta, arguments={"beta": "x"}),
        _marker(weights, beta, extras=private),
    ]
    assert len(set(found)) == len(found)


def test_what_changes_from_turn_to_turn_leaves_the_marker() -> None:
    """A prompt that begins with the same bytes is cheaper where models keep what they have read."""
    first = PromptContext(hints=("meals (Meals): Log meals.",), user_context={"turn": 1})
    again = PromptContext(user_context={"turn": 2})
    assert _marker(example("weights"), extras=first) == _marker(example("weights"), extras=again)


def test_half_a_character_breaks_nothing() -> None:
    assert _marker(example("weights"), arguments={"weights": "\ud800"})
