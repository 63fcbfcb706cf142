"""The agents of docs/agents/ that use the vendors' own packages, against the product and a stand-in for the models."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.stand_ins import SAVE, anthropic_answer, openai_answer
from tests.pypi import install
from tests.servers import ROOT, Studio
from tests.unit.agent_client.registries import FakeRegistry, fake_registry

pytestmark = [pytest.mark.slow, pytest.mark.system]
PACKAGES = ("langgraph==1.2.22", "langchain-openai==1.7.3", "openai==3.54.0", "anthropic==2.12.0")
MESSAGE = "I just weighed 187.6 lbs"


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(tmp_path_factory.mktemp("sdks"), *PACKAGES, "httpx", "jsonschema-rs", "rfc8785")


@pytest.fixture
def models() -> Iterator[FakeRegistry]:
    with fake_registry(completions=openai_answer, messages=anthropic_answer) as found:
        yield found


def _run(python: Path, module: str, *arguments: str) -> str:
    env = os.environ | {"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k", "LANGSMITH_TRACING": "false"}
    command = [str(python), "-m", f"docs.agents.{module}", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.parametrize("vendor", ["openai", "anthropic"])
def test_a_vendors_own_package(python: Path, live_studio: Studio, models: Any, vendor: str) -> None:
    said = _run(python, "vendor_sdks", vendor, live_studio.url, models.url, "any", MESSAGE)
    assert said.startswith("person: yes to weight_entry_save_batch")
    assert 'agent: Done: {"saved": 1}' in said


@pytest.mark.parametrize(
    ("answer", "result"), [("yes", 'Done: {"saved": 1}'), ("no", 'Done: {"error": {"code": "CALL_REJECTED"')]
)
def test_a_graph_that_waits_for_a_person(
    python: Path, live_studio: Studio, models: Any, answer: str, result: str
) -> None:
    said = _run(python, "langgraph_agent", live_studio.url, models.url, "any", MESSAGE, answer)
    assert said.count("person: ") == 1
    assert f"agent: {result}" in said
    names = {tool["function"]["name"] for tool in models.asked[-1].body["tools"]}
    assert SAVE in names
