"""The wheel with each extra in an environment of its own: its adapters, and the agents of docs/agents/.

The models are scripted, or a stand-in answers what the vendors' own packages ask.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from capability_client.tests.registries import FakeRegistry, fake_registry
from tests.integration.stand_ins import SAVE, anthropic_answer, openai_answer
from tests.pypi import copy_package, install
from tests.servers import ROOT, Studio

pytestmark = [pytest.mark.rare, pytest.mark.system]
EXTRAS = ("pydantic-ai", "openai-agents", "langgraph", "claude-agent-sdk")
VENDORS = ("langgraph==1.2.22", "langchain-openai==1.7.3", "openai==3.54.0", "anthropic==2.12.0")
CHECKERS = ("pyright[nodejs]==1.1.414",)
MESSAGE = "I just weighed 187.6 lbs"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """`(its Python, a folder to run in)`: nothing of the checkout is importable there."""
    folder = tmp_path_factory.mktemp("frameworks")
    kit, client = (copy_package(name, folder / "source") for name in ("capability_kit", "capability_client"))
    python = install(folder / "venv", str(kit), f"{client}[{','.join(EXTRAS)}]", *VENDORS, *CHECKERS)
    shutil.copy(ROOT / "tests" / "integration" / "framework_programs.py", folder / "programs.py")
    return python, folder


@pytest.mark.parametrize("extra", EXTRAS)
def test_a_framework_runs_the_sessions_tools_and_asks_before_a_write(
    environment: tuple[Path, Path], extra: str
) -> None:
    python, folder = environment
    command = [str(python), "programs.py", extra.replace("-", "_")]
    env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | {"LANGSMITH_TRACING": "false"}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    yes, _, no = done.stdout.partition("model: ")[2].partition("\n")
    first = done.stdout.partition("model: ")[0].splitlines()
    assert first[0].startswith("asked: ")
    assert "187.6" in first[0]
    assert first[1:] == [
        'ran weight_save with {"weight": 187.6}, approved by Ada',
        "ran weight_list with {}, approved by nobody",
    ]
    assert yes.count("für heute") == 2
    assert "ran weight_save" not in no, "a person said no"
    assert "ran weight_list" in no


@pytest.mark.parametrize("name", ["pydantic_ai_form", "langgraph_form"])
def test_a_framework_shows_a_form_and_asks_for_what_the_user_sent(environment: tuple[Path, Path], name: str) -> None:
    python, folder = environment
    env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | {"LANGSMITH_TRACING": "false"}
    command = [str(python), "programs.py", name]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    yes, _, no = done.stdout.partition("model: ")
    asked = [
        "asked: a form",
        "asked: WeightForm.v1 has no action 'nothing'; there are: save",
        'asked: weight_save of weights (write) with {"weight": 186.4}',
    ]
    assert yes.splitlines() == [*asked, 'ran weight_save with {"weight": 186.4}, approved by Ada']
    assert no.splitlines()[1:4] == asked
    assert "ran weight_save" not in no, "a person said no"


@pytest.mark.parametrize("name", ["pydantic_agent", "langgraph_agent"])
def test_an_agent_of_the_docs_asks_and_shows_a_form(environment: tuple[Path, Path], name: str) -> None:
    env = os.environ | {"PYTHONPATH": str(ROOT), "LANGSMITH_TRACING": "false"}
    command = [str(environment[0]), str(ROOT / "tests" / "integration" / "agent_programs.py"), name]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.splitlines() == [
        "asked: weight_entry_save_batch",
        "Saved 1.",
        "shown: WeightBatchEditor.v1",
        "asked: weight_entry_save_batch",
        "Saved 2.",
    ]


def test_the_wheel_has_its_license_version_and_types(environment: tuple[Path, Path]) -> None:
    python, folder = environment
    code = (
        "import capability_client, importlib.metadata as m, pathlib\n"
        "d = m.distribution('capability-client')\n"
        "names = [str(f) for f in d.files or []]\n"
        "print(capability_client.__version__ == d.version)\n"
        "print(sum(n.endswith('LICENSE') for n in names), sum(n.endswith('py.typed') for n in names))\n"
        "print(pathlib.Path(capability_client.__file__).parent.parent.name)\n"
        "print(sum(n.startswith('capability_client/docs/') for n in names))\n"
    )
    done = subprocess.run([str(python), "-c", code], cwd=folder, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["True", "1", "1", "site-packages", "17"]
    assert (ROOT / "capability_client" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_pyright_knows_every_type_of_the_library_but_those_of_the_frameworks(environment: tuple[Path, Path]) -> None:
    """Base classes and results that a framework has not typed itself are left out."""
    python, folder = environment
    command = [str(python.parent / "pyright"), "--verifytypes", "capability_client", "--outputjson"]
    env = os.environ | {"PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"}
    env.pop("PYTHONPATH", None)
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=300)
    symbols = json.loads(done.stdout)["typeCompleteness"]["symbols"]
    unknown = {one["name"] for one in symbols if one["isExported"] and not one["isTypeKnown"]}
    assert {name for name in unknown if not name.startswith("capability_client.integrations.")} == set()


@pytest.fixture
def models() -> Iterator[FakeRegistry]:
    with fake_registry(completions=openai_answer, messages=anthropic_answer) as found:
        yield found


GRAPH = """
import sys
from langchain_openai import ChatOpenAI
from capability_client import Registry, User
from capability_client.integrations.langgraph import SkillNodes
from docs.agents.langgraph_agent import build, say
from docs.agents.weight_tools import tools

registry_url, model_url, text, answer = sys.argv[1:]


def decide(asked):
    print(f"person: {answer} to {asked}")
    return answer == "yes"


with Registry(registry_url) as registry:
    skills = SkillNodes(registry, user=User(name="Alice"), toolbox=tools)
    print(f"agent: {say(build(skills, ChatOpenAI(base_url=model_url, model='any')), '1', text, decide)}")
"""


def _run(python: Path, *arguments: str) -> str:
    env = os.environ | {"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k", "LANGSMITH_TRACING": "false"}
    done = subprocess.run(
        [str(python), *arguments], cwd=ROOT, env=env, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.parametrize("vendor", ["openai", "anthropic"])
def test_a_vendors_own_package(environment: tuple[Path, Path], live_studio: Studio, models: Any, vendor: str) -> None:
    said = _run(environment[0], "-m", "docs.agents.vendor_sdks", vendor, live_studio.url, models.url, "any", MESSAGE)
    assert said.startswith("person: yes to weight_entry_save_batch")
    assert 'agent: Done: {"saved": 1}' in said


@pytest.mark.parametrize(
    ("answer", "result"), [("yes", 'Done: {"saved": 1}'), ("no", 'Done: {"error": {"code": "CALL_REJECTED"')]
)
def test_a_graph_that_waits_for_a_person(
    environment: tuple[Path, Path], live_studio: Studio, models: Any, answer: str, result: str
) -> None:
    said = _run(environment[0], "-c", GRAPH, live_studio.url, models.url, MESSAGE, answer)
    assert said.count("person: ") == 1
    assert f"agent: {result}" in said
    names = {tool["function"]["name"] for tool in models.asked[-1].body["tools"]}
    assert SAVE in names
