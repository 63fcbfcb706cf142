"""docs/agents.md: the transcripts are what the terminal shows, the code runs, every name exists."""

from __future__ import annotations

import importlib
import re
from typing import Any

import pytest

import capability_client
from capability_client.tests.test_session import Shelf
from capability_client.tests.transcripts import NAMES, PAGE, in_page, play
from capability_kit.environment.probe import Environment


@pytest.mark.parametrize("name", NAMES)
def test_a_transcript_is_what_the_terminal_shows(name: str) -> None:
    shown = in_page(PAGE.read_text("utf-8"), name)
    assert shown == play(name), "run: python -m capability_client.tests.transcripts"


def test_the_first_screen_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    found = re.search(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert found is not None

    class Registry(Shelf):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__()

        def match(self, message: str) -> Any:
            return {"decision": "match", "matches": [{"capability_id": "weights", "score": 1.0}], "skill_groups": []}

    monkeypatch.setattr(capability_client, "Registry", Registry, raising=False)
    monkeypatch.setattr(Environment, "probe", staticmethod(lambda permissions=(): Environment()))
    arguments = {"entries": [{"measured_on": "2026-01-15", "weight": 187.6, "unit": "lb"}]}
    names: dict[str, Any] = {"key": None, "arguments": arguments, "execute": lambda call: {"saved": 1}}
    exec(compile(found[1], "agents.md", "exec"), names)
    assert names["done"].result == {"saved": 1}
    assert [hint.capability_id for hint in names["turn"].hints] == ["weights"]
    assert "Hey Alice" in capsys.readouterr().out


def test_agents_page_names_ten_stops_of_a_turn_that_exist() -> None:
    row = r"^\| \d+ \| `(\w+)\.(\w+)`(?: and `(\w+)`)?, `([\w/]+)\.py` \|"
    rows = re.findall(row, PAGE.read_text("utf-8"), re.MULTILINE)
    assert len(rows) == 10
    for owner, *methods, path in rows:
        folder = "" if "/" in path else "capability_client/session/"
        module = importlib.import_module(f"{folder}{path}".replace("/", "."))
        assert all(callable(getattr(getattr(module, owner), method)) for method in methods if method), owner
