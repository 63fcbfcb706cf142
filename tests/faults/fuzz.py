"""Coverage-guided fuzzing of every reader of foreign bytes: `python -m tests.faults fuzz --seconds N`."""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.servers import ROOT

Outcome = tuple[str, list[str]]
INSTALL: Final = "pip install 'atheris>=3.0,<4'"
# An input that takes longer, or one that takes more memory, is a finding too.
_INPUT_SECONDS: Final = 30
_MEMORY_MB: Final = 2048
_INPUT_BYTES: Final = 65_536
_DONE: Final = re.compile(rb"Done (\d+) runs")
_COVERED: Final = re.compile(rb"cov: (\d+)")


def fuzz(_database: str, options: argparse.Namespace) -> Outcome:
    """`--seconds` in all, divided among the targets; each crash is a fault with the file of its input, whose base64
    belongs into tests/data/fuzz once it is fixed.

    Needs atheris, which is not a requirement of the suite: it has wheels for Linux on x86 alone.
    """
    if importlib.util.find_spec("atheris") is None:
        return f"skipped: atheris is not installed ({INSTALL})", []
    from tests.faults.fuzz_targets import TARGETS

    names = options.target or list(TARGETS)
    corpora = Path(options.corpus) if options.corpus else Path(tempfile.mkdtemp(prefix="studio-fuzz-"))
    words, faults = [], []
    try:
        for name in names:
            said, found = _fuzz_one(name, corpora / name, max(1, int(options.seconds / len(names))), options.seed)
            words.append(said)
            faults += found
    finally:
        if not options.corpus and not faults:
            shutil.rmtree(corpora, ignore_errors=True)
    return "; ".join(words), faults


def _fuzz_one(name: str, folder: Path, seconds: int, seed: int) -> Outcome:
    corpus, crashes = folder / "corpus", folder / "crashes"
    for made in (corpus, crashes):
        made.mkdir(parents=True, exist_ok=True)
    _write_seeds(name, corpus)
    command = [
        *[sys.executable, "-m", "tests.faults.fuzz_worker", name, f"-max_total_time={seconds}", f"-seed={seed}"],
        *[f"-timeout={_INPUT_SECONDS}", f"-rss_limit_mb={_MEMORY_MB}", f"-max_len={_INPUT_BYTES}"],
        *[f"-artifact_prefix={crashes}/", f"-dict={folder / 'words'}", str(corpus)],
    ]
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    log = folder / "log"
    with log.open("wb") as file:
        code = subprocess.run(command, cwd=ROOT, env=env, stdout=file, stderr=subprocess.STDOUT, check=False).returncode
    said = log.read_bytes()
    runs, covered = _DONE.search(said), _COVERED.findall(said)
    count = int(runs[1]) if runs else 0
    faults = [f"{name}: {crash} (see {log})" for crash in sorted(crashes.iterdir())]
    if code != 0 and not faults:
        faults.append(f"{name}: ended with exit code {code} (see {log})")
    edges = int(covered[-1]) if covered else 0
    return f"{name} {count} inputs, {edges} edges, {len(list(corpus.iterdir()))} kept", faults


def _write_seeds(name: str, corpus: Path) -> None:
    """The examples, and what was found before."""
    command = [sys.executable, "-c", _SEEDS, name, str(corpus)]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"}, check=True)


_SEEDS: Final = r"""
import hashlib, json, pathlib, re, sys, django
django.setup()
from tests.faults.fuzz_targets import kept_inputs, seeds
corpus, words = pathlib.Path(sys.argv[2]), set()
for data in [*seeds(sys.argv[1]), *kept_inputs(sys.argv[1])]:
    (corpus / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)
    words.update(re.findall(rb"[A-Za-z_$#][\w$/.-]{1,29}", data))
lines = (f"{json.dumps(word.decode())}\n" for word in sorted(words, key=lambda word: (len(word), word))[:1500])
(corpus.parent / "words").write_text("".join(lines))
"""
