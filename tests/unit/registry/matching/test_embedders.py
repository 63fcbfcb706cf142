"""The packaged model: what it leaves on the machine that it runs on, which is nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from registry.common import caches
from registry.matching import embedders
from registry.matching.multilingual import PairEmbedder
from registry.models import SentenceVector
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


@pytest.mark.django_db
def test_only_what_is_installed_stands_in_for_the_chosen_model(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.EMBEDDER = "multilingual"
    caches.reset_all()
    pair = embedders.get_embedder()
    assert isinstance(pair, PairEmbedder)
    assert embedders.list_other_embedders(pair) == [pair.english]
    settings.EMBEDDER = "minilm"
    caches.reset_all()
    english = embedders.get_embedder()
    others = embedders.list_other_embedders(english)
    assert [one.model_id for one in others] == [pair.model_id]
    assert isinstance(others[0], PairEmbedder)
    assert others[0].english is english
    monkeypatch.setattr(embedders, "is_multilingual_installed", lambda: False)
    caches.reset_all()
    assert embedders.list_other_embedders(embedders.get_embedder()) == []
    assert embedders.list_other_embedders(None) == []


@pytest.mark.both_databases
@pytest.mark.django_db
def test_another_model_of_the_same_endpoint_stands_in_and_no_other_address_does(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedders, "is_minilm_installed", lambda: False)
    settings.EMBEDDER, settings.EMBEDDER_MODEL, settings.EMBEDDING_DIM = "https://one.example/v1", "new", 8
    caches.reset_all()
    stored = ["old@https://one.example/v1#4", "old@https://two.example/v1#4", "new@https://one.example/v1#8"]
    for name in stored:
        SentenceVector.objects.create(model_id=name, text_sha256="0" * 64, dimension=int(name[-1]), vector=b"")
    others = embedders.list_other_embedders(embedders.get_embedder())
    assert [(one.model_id, one.dimension) for one in others] == [(stored[0], 4)]
