"""The packaged model: what it leaves on the machine that it runs on, which is nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers import ROOT

CODE = """
import django
django.setup()
from registry.matching.minilm import MiniLmEmbedder
print(MiniLmEmbedder().embed(["hello"]).shape)
"""

LONG_TEXTS = """
import resource
import django
django.setup()
from registry.matching.minilm import MiniLmEmbedder
model = MiniLmEmbedder()
model.embed(["hello"])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
model.embed([f"{number} " + "word " * 250 for number in range(32)])
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.slow
def test_long_texts_take_no_more_memory_than_short_ones(tmp_path: Path) -> None:
    """Thirty-two of them at once took 440 MiB, which the model's runtime keeps for ever."""
    env = {
        **os.environ,
        "DATA_DIR": str(tmp_path),
        "PYTHONPATH": str(ROOT),
        "DJANGO_SETTINGS_MODULE": "studio.settings",
    }
    done = subprocess.run(
        [sys.executable, "-c", LONG_TEXTS], env=env, cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 60, "MiB"


def test_the_models_runtime_writes_and_sends_nothing(tmp_path: Path) -> None:
    """Its packages write a device id into the home folder, and tell their maker, where they are not told otherwise."""
    home = tmp_path / "home"
    home.mkdir()
    own = {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "DATA_DIR": str(tmp_path / "data")}
    env = {**os.environ, **own, "PYTHONPATH": str(ROOT), "DJANGO_SETTINGS_MODULE": "studio.settings"}
    env.pop("ORT_DISABLE_TELEMETRY", None)
    done = subprocess.run([sys.executable, "-c", CODE], env=env, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "(1, 384)\n"), done.stderr
    assert [*home.rglob("*")] == []
