"""What one command that publishes many new folders costs the whole product: `python bench/bulk_publish.py 1000`.

The product as users start it (`python3 run.py`), then `run.py manage bundle publish` of so many new folders, two tools
and about 3 KB each; `--times` commands in a row, each of folders that none before it had. Prints a line of JSON each:
CPU milliseconds a folder by role (command with its check processes, server, worker, database), while the command runs
and, of one alone, until everything has become idle again, and folders a second.

`--database sqlite|postgresql`, `--root TREE` for another checkout with its own .venv, `--keep FILE` writes the results
that the commands printed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
import time
from collections import Counter
from pathlib import Path

from bundles import new_bundle
from product import ROOT, Product, start_product

_TEXT_BYTES = 3000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="postgresql")
    parser.add_argument("--root", type=Path, default=ROOT)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    kept = []
    with start_product(options.database, root=options.root.resolve()) as product:
        for time_ in range(options.times):
            numbers = range(time_ * options.count, (time_ + 1) * options.count)
            row, results = measure(product, numbers, is_alone=options.times == 1)
            kept += results
            print(json.dumps({"database": options.database, "root": options.root.name, **row}), flush=True)
    if options.keep:
        options.keep.write_text(json.dumps(kept, indent=1, sort_keys=True))


def measure(product: Product, numbers: range, *, is_alone: bool) -> tuple[dict[str, object], list[dict[str, object]]]:
    """The figures of one command, and what it printed of each folder."""
    with tempfile.TemporaryDirectory(prefix="bench-folders-") as folder:
        for number in numbers:
            write_folder(Path(folder), number)
        before, began = product.cpu_seconds(), time.monotonic()
        printed, command = product.manage("bundle", "publish", folder, "--format", "json", check=False)
        seconds, meanwhile = time.monotonic() - began, product.cpu_seconds()
    if is_alone:
        product.wait_until_idle()
    afterwards = product.cpu_seconds()
    results = json.loads(printed)["results"]
    statuses = Counter(one["status"] for one in results)
    published = max(1, statuses["published"])

    def each(now: dict[str, float]) -> dict[str, float]:
        spent = {role: now[role] - before[role] for role in now} | {"command": command}
        return {role: round(value / published * 1000, 1) for role, value in spent.items()} | {
            "all": round(sum(spent.values()) / published * 1000, 1)
        }

    row = {
        "first": numbers.start,
        "statuses": statuses,
        "seconds": round(seconds, 1),
        "per_second": round(published / seconds, 1),
        "cpu_ms_each_meanwhile": each(meanwhile),
        **({"cpu_ms_each_until_idle": each(afterwards)} if is_alone else {}),
        "load": os.getloadavg()[0],
    }
    return row, results


def write_folder(parent: Path, number: int) -> None:
    """A bundle with two tools and about 3 KB, whose triggers and sentences no other has."""
    chosen = random.Random(number)
    files = {name: str(text) for name, text in new_bundle(number, tools=2).items()}
    facts = json.loads(files["capability.json"])
    words = [word.strip(".,?!").lower() for line in chosen.sample(_sentences(files), 3) for word in line.split()[:2]]
    facts["intent_triggers"] = [f"bench {number}", f"{words[0]} {words[1]} {number}", f"{words[2]} {words[3]} {number}"]
    files["capability.json"] = json.dumps(facts)
    folder = parent / facts["capability_id"]
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")


def _sentences(files: dict[str, str]) -> list[str]:
    return [line for line in files["skill.md"].splitlines() if line.endswith(").")]


if __name__ == "__main__":
    main()
