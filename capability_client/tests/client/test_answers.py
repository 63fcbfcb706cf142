"""What the client says of the registry's responses is what the schemas say."""

from __future__ import annotations

import json
from typing import Any

import pytest

from capability_client.client import answers
from tests.servers import ROOT

SHAPES: dict[str, Any] = {
    "match": answers.MatchAnswer,
    "search": answers.SearchAnswer,
    "feedback": answers.FeedbackAnswer,
    "installed": answers.InstallAnswer,
    "proposed": answers.ProposeAnswer,
    "proposal": answers.ProposalAnswer,
}


def _schema(name: str) -> Any:
    return json.loads((ROOT / "schemas" / "api" / f"{name}.schema.json").read_text("utf-8"))


@pytest.mark.parametrize("name", SHAPES)
def test_the_keys_are_those_of_the_schema(name: str) -> None:
    schema = _schema(name)
    assert set(SHAPES[name].__annotations__) == set(schema["properties"])
    assert SHAPES[name].__required_keys__ == set(schema["required"])


@pytest.mark.parametrize(
    ("name", "array", "row"), [("match", "matches", answers.MatchRow), ("search", "results", answers.SearchRow)]
)
def test_the_keys_of_a_row_are_those_of_the_schema(name: str, array: str, row: Any) -> None:
    items = _schema(name)["properties"][array]["items"]
    assert set(row.__annotations__) == set(items["properties"])
