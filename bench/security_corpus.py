"""Measure the `SEC_` rules on a folder of labelled skills.

    python bench/security_corpus.py CORPUS_DIR [--all] [--families SEED] [--plain SKILLS_DIR] [--tools TOOLS_DIR]

CORPUS_DIR holds labels.csv (id, path, label, class, text_decidable, split) and the files it names. Each file is read as
the skill.md of a bundle. `--families` parts the malicious classes of labels.csv into two halves by a draw with this
seed and scores each. `--all` lists every finding; `--plain` also runs over a folder of real, unlabelled skills, and
`--tools` over a folder of tool contracts (JSON lines), where nearly every finding is a false alarm.

The files are data. Nothing in them is executed or followed.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from capability_rules.bundles.problem import RawFinding
from capability_rules.validation.codes import list_codes
from capability_rules.validation.security.detectors.policy_mismatch import check_policies
from capability_rules.validation.security.scanner import check_texts
from capability_rules.validation.security.text_corpus import AuthorText, find_json_texts

TABLE = list_codes()


def severity(problem: RawFinding) -> str:
    return problem.severity or TABLE[problem.code].severity


def read_skill(path: Path) -> list[RawFinding]:
    text = path.read_bytes().decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
    return check_texts([AuthorText("skill.md", (), text)])


def worst(problems: list[RawFinding]) -> str:
    if any(severity(each) == "error" for each in problems):
        return "error"
    return "warning" if problems else "none"


def group_of(row: dict[str, str]) -> str:
    """How a row is scored: apart where the label or the README says so."""
    if row["class"] == "scanner-fixture":
        return f"scanner-fixture {row['label']}"
    if row["label"] == "malicious":
        return {"yes": "malicious, decidable", "no": "malicious, not decidable"}.get(
            row["text_decidable"], "malicious, unclear"
        )
    return row["label"]


def draw_families(folder: Path, seed: int | None) -> set[str]:
    """Half of the classes that have malicious files: for developing. The others are held out."""
    with (folder / "labels.csv").open(encoding="utf-8", newline="") as labels:
        names = sorted({row["class"] for row in csv.DictReader(labels) if row["label"] == "malicious"})
    draw = random.Random(seed)
    return set(draw.sample(names, len(names) // 2)) if seed is not None else set()


def report_corpus(folder: Path, *, show_all: bool, seed: int | None = None) -> None:
    develop = draw_families(folder, seed)
    totals: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    lists: dict[str, list[str]] = defaultdict(list)
    with (folder / "labels.csv").open(encoding="utf-8", newline="") as labels:
        for row in csv.DictReader(labels):
            problems = read_skill(folder / row["path"])
            verdict, group = worst(problems), group_of(row)
            part = "develop" if row["class"] in develop else "held out"
            parts = [f"families {part}"] if seed is not None and row["label"] == "malicious" else []
            for key in ("all", f"class {row['class']}", f"split {row['split']}", *parts):
                totals[group, key][verdict] += 1
            seen = ", ".join(sorted({f"{each.code}:{severity(each)[0]}" for each in problems}))
            is_miss = group.startswith("malicious, d") and verdict != "error"
            is_alarm = row["label"] == "benign" and verdict != "none"
            if is_miss or is_alarm or show_all:
                lists["misses" if is_miss else "false alarms" if is_alarm else "others"].append(
                    f"{row['id']}: {verdict} {seen}"
                )
                if is_alarm or show_all:
                    lists["misses" if is_miss else "false alarms" if is_alarm else "others"] += [
                        f"    {each.message}" for each in problems
                    ]
    print_totals(totals)
    for title, lines in lists.items():
        print(f"\n{title}:", *lines, sep="\n  ")


def print_totals(totals: dict[tuple[str, str], Counter[str]]) -> None:
    print(f"{'group':32} {'part':26} {'files':>5} {'error':>12} {'error or warning':>18}")
    for (group, part), count in sorted(totals.items()):
        files = count.total()
        flagged = files - count["none"]
        error_share, flagged_share = count["error"] / files, flagged / files
        print(f"{group:32} {part:26} {files:5} {count['error']:5} {error_share:6.1%} {flagged:10} {flagged_share:7.1%}")


def report_plain(folder: Path) -> None:
    """Real skills without a label: how many are flagged, and by what."""
    count: Counter[str] = Counter()
    for path in sorted(folder.rglob("*")):
        if path.name.upper() == "SKILL.MD":
            problems = read_skill(path)
            count[worst(problems)] += 1
            for each in problems:
                print(f"{severity(each):8}{each.code:26}{path.parent.name}: {each.message}")
    print(f"plain skills: {count.total()}, error {count['error']}, warning {count['warning']}")


def report_tools(folder: Path) -> None:
    count: Counter[str] = Counter()
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            tool: dict[str, Any] = json.loads(line)
            source = tool.pop("_source", {})
            problems = [*check_policies([tool]), *check_texts(find_json_texts("tools.json", [tool]))]
            count[worst(problems)] += 1
            for each in problems:
                print(f"{severity(each):8}{each.code:26}{tool['name']}: {each.message} [{source.get('policy_source')}]")
    print(f"tools: {count.total()}, error {count['error']}, warning {count['warning']}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--families", type=int)
    parser.add_argument("--plain", type=Path)
    parser.add_argument("--tools", type=Path)
    arguments = parser.parse_args()
    began = time.perf_counter()
    report_corpus(arguments.corpus, show_all=arguments.all, seed=arguments.families)
    if arguments.plain:
        report_plain(arguments.plain)
    if arguments.tools:
        report_tools(arguments.tools)
    print(f"\n{time.perf_counter() - began:.1f} s")


if __name__ == "__main__":
    main()
