"""What importing and publishing a folder of Agent Skills costs: `python bench/corpus_import.py FOLDER [--keep FILE]`.

A new data directory (SQLite), then the commands of the product: `bundle import FOLDER`, and a `bundle publish` of every
draft that came of it. Prints a line of JSON a phase: CPU seconds of the command with the processes that it starts, wall
seconds, and milliseconds of wall time from one bundle to the next by the audit log, as quartiles; then the sum.

`--keep FILE` writes what both commands printed, digests and findings of every bundle, to compare two versions.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-corpus-") as directory:
        os.environ["DATA_DIR"] = directory
        _run("migrate", "--verbosity", "0")
        imported = _measure("import", "bundle", "import", str(options.folder.resolve()))
        names = [row["capability_id"] for row in imported["results"] if row["status"] == "draft"]
        published = _measure("publish", "bundle", "publish", *(word for name in names for word in ("--draft", name)))
        _describe(imported, _read_times("draft.import"))
        _describe(published, _read_times("capability.publish"))
    both = {name: round(imported[name] + published[name], 1) for name in ("cpu_s", "wall_s")}
    print(json.dumps({"phase": "both", **both}))
    if options.keep:
        kept = {one["phase"]: one["results"] for one in (imported, published)}
        options.keep.write_text(json.dumps(kept, indent=1, sort_keys=True))


def _run(*command: str) -> str:
    """What it prints; a bundle that is refused ends a command with 1."""
    line = [sys.executable, str(ROOT / "manage.py"), *command]
    done = subprocess.run(line, check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{command[:2]} ended with {done.returncode}")
    return done.stdout


def _measure(phase: str, *command: str) -> dict[str, Any]:
    cpu_before, wall_before = _cpu_seconds(), time.perf_counter()
    printed = _run(*command, "--format", "json")
    wall, cpu = time.perf_counter() - wall_before, _cpu_seconds() - cpu_before
    return {"phase": phase, "results": json.loads(printed)["results"], "cpu_s": cpu, "wall_s": wall}


def _cpu_seconds() -> float:
    """Of every process that was started and has ended, with those that it started."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _read_times(verb: str) -> list[datetime]:
    """When each bundle was written."""
    with closing(sqlite3.connect(Path(os.environ["DATA_DIR"]) / "studio.sqlite3")) as database:
        rows = database.execute("SELECT at FROM registry_auditevent WHERE verb = ? ORDER BY id", (verb,))
        return [datetime.fromisoformat(at) for (at,) in rows]


def _describe(phase: dict[str, Any], times: list[datetime]) -> None:
    count = len(phase["results"])
    apart = [(later - earlier).total_seconds() * 1000 for earlier, later in pairwise(times)]
    row = {
        "phase": phase["phase"],
        "bundles": Counter(one["status"] for one in phase["results"]),
        "cpu_s": round(phase["cpu_s"], 1),
        "wall_s": round(phase["wall_s"], 1),
        "cpu_ms_each": round(phase["cpu_s"] / count * 1000, 1),
        "wall_ms_apart": [round(value, 1) for value in statistics.quantiles(apart, n=4)],
        "load": os.getloadavg()[0],
    }
    print(json.dumps(row))


if __name__ == "__main__":
    main()
