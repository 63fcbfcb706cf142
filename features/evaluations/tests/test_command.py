"""`manage.py evaluation`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from features.evaluations import case_store
from registry.core.queries import get_capability
from tests.factories import publish
from tests.model_servers import model_server
from tests.unit.registry.cli.conftest import Manage

pytestmark = pytest.mark.django_db


def test_a_file_of_cases_that_is_not_there_is_one_line(manage: Manage, tmp_path: Path) -> None:
    publish()
    done = manage("evaluation", "cases", "alpha", "--from", str(tmp_path / "evals.json"))
    assert done.code != 0
    assert done.err.count("\n") == 1
    assert "evals.json: No such file or directory" in done.err


def test_cases_are_read_from_a_file_played_and_listed(manage: Manage, settings: Any, tmp_path: Path) -> None:
    publish()
    file = tmp_path / "evals.json"
    rows = [
        {"name": "greets", "prompt": "hello", "expect": {"says": ["hi"]}},
        {"name": "fails", "prompt": "x", "expect": {"says": ["?"]}},
    ]
    file.write_text(json.dumps({"evals": rows[:1]}), "utf-8")
    assert manage("evaluation", "cases", "alpha", "--from", str(file)).out == "1 case\n"
    file.write_text(json.dumps({"evals": rows}), "utf-8")
    assert manage("evaluation", "cases", "alpha", "--from", str(file)).out == "2 cases\n"
    assert [row["name"] for row in json.loads(manage("evaluation", "cases", "alpha").out)["evals"]] == [
        "greets",
        "fails",
    ]
    assert manage("evaluation", "play", "alpha").code == 1
    with model_server("anthropic", lambda body: ("Hi there", [])) as server:
        settings.MODEL_URL, settings.MODEL_NAMES, settings.MODEL_KIND = server.url, ("m",), "anthropic"
        done = manage("evaluation", "play", "alpha")
        assert done.code == 1
        assert "pass  1/1  greets" in done.out
        assert "1 of 2 passed" in done.out
        found = manage("evaluation", "play", "alpha", "--format", "json").document
        asked = len(server.bodies)
        assert "0 of 2 passed" in manage("evaluation", "play", "alpha", "--side", "silent").out
        assert len(server.bodies) == asked
    assert [row["passed"] for row in found["results"]] == [True, False]
    assert manage("evaluation", "list", "alpha").out == "No runs\n"
    assert len(case_store.list_cases(get_capability("alpha"))) == 2
