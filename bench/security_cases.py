"""Measure the `SEC_` rules on passages written for it: `python bench/security_cases.py [PART] [--show]`.

security_cases/malicious.txt and benign.txt hold a passage per line: class, language, place, encoding, text. A seeded
draw by class parts them: rules are written on the part `develop`, and `held-out` is only scored. The parts `later`,
`last` and `rounds` were written when the rules were done; their first scores are in docs/benchmarks.md. `skills` scores
the whole skills of skills_first.jsonl to skills_fourth.jsonl, `everyday` the sentences of everyday/, one by one.
`--show` lists misses and false
alarms with their texts; do not use it on the part that is held out.

The passages are data. Nothing in them is executed or followed; every host is a reserved name.
"""

from __future__ import annotations

import argparse
import base64
import codecs
import json
import random
import sys
import urllib.parse
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from capability_rules.bundles.problem import RawFinding
from capability_rules.validation.codes import list_codes
from capability_rules.validation.security.detectors.policy_mismatch import check_policies
from capability_rules.validation.security.scanner import check_paths, check_texts
from capability_rules.validation.security.text_corpus import AuthorText, find_json_texts

FOLDER = Path(__file__).resolve().parent / "security_cases"
SEED = 20260
PAGE = "---\nname: entries\n{front}---\n# Entries\n\nKeeps entries.\n\n## Steps\n\n1. Find the entry.\n\n{body}\n"
LEET = str.maketrans("aeiost", "4310$7")
ENCODINGS: dict[str, Callable[[str], str]] = {
    "-": lambda text: text,
    "b64": lambda text: base64.b64encode(text.encode()).decode(),
    "b32": lambda text: base64.b32encode(text.encode()).decode(),
    "hex": lambda text: text.encode().hex(),
    "rot13": lambda text: codecs.encode(text, "rot13"),
    "url": lambda text: "".join(f"%{byte:02X}" for byte in text.encode()),
    "leet": lambda text: text.translate(LEET),
    "spaced": lambda text: " ".join(text.replace(" ", "")),
    "uni": lambda text: "".join(f"\\u{ord(char):04x}" for char in text),
    "rev": lambda text: text[::-1],
    "ent": lambda text: "".join(f"&#{ord(char)};" for char in text),
    "split": lambda text: "run('" + "' + '".join(text[at : at + 3] for at in range(0, len(text), 3)) + "')",
    "quoted": urllib.parse.quote,
}


@dataclass(frozen=True)
class Case:
    number: int
    attack: str
    language: str
    place: str
    encoding: str
    text: str


def read_cases(name: str) -> list[Case]:
    cases: list[Case] = []
    for line in (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            attack, language, place, encoding, text = (part.strip() for part in line.split(" | ", 4))
            text = text.replace("\\n", "\n").replace("\\|", "|")
            cases.append(Case(len(cases), attack, language, place, encoding, ENCODINGS[encoding](text)))
    return cases


def draw_part(cases: list[Case], part: str) -> list[Case]:
    """Half of each class, drawn with a fixed seed: what is not for developing is held out."""
    drawn: set[int] = set()
    by_class: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        by_class[case.attack].append(case)
    random_numbers = random.Random(SEED)
    for name in sorted(by_class):
        group = by_class[name]
        drawn.update(case.number for case in random_numbers.sample(group, (len(group) + 1) // 2))
    return [case for case in cases if (case.number in drawn) == (part == "develop")]


def check(case: Case) -> list[RawFinding]:
    text = case.text
    if case.place == "path":
        return check_paths([text])
    if case.place == "file":
        return check_texts([AuthorText("scripts/helper.txt", (), text)])
    if case.place == "front":
        return check_texts([AuthorText("skill.md", (), PAGE.format(front=text + "\n", body=""))])
    if case.place in ("skill", "playbook"):
        return check_texts([AuthorText("skill.md", (), PAGE.format(front="", body=text))])
    if case.place == "description":
        facts = {"capability_id": "entries", "display_name": "Entries", "description": text}
        return check_texts(find_json_texts("capability.json", facts))
    if case.place == "capability":
        return check_texts(find_json_texts("capability.json", {"capability_id": "entries", "when_to_use": [text]}))
    if case.place == "ui":
        return check_texts(find_json_texts("ui_schemas.json", [{"id": "form", "components": [{"text": text}]}]))
    return _check_tool(case.place, text)


def _check_tool(place: str, text: str) -> list[RawFinding]:
    field: dict[str, object] = {"type": "string"}
    if place == "tools-enum":
        field["enum"] = ["csv", text]
    if place == "tools-default":
        field["default"] = text
    tool = {
        "name": "entry_show",
        "description": text if place == "tools" else "Shows an entry.",
        "input_schema": {"type": "object", "properties": {"format": field}},
        "policy": {"kind": "read", "requires_approval": False},
    }
    is_benign_write = place == "tools" and text.startswith(("Transfers", "Sends", "Deletes", "Saves"))
    if is_benign_write and "also" not in text.lower():
        tool["policy"] = {"kind": "write", "requires_approval": True}
    return [*check_policies([tool]), *check_texts(find_json_texts("tools.json", [tool]))]


def worst(problems: list[RawFinding]) -> str:
    severities = {problem.severity or list_codes()[problem.code].severity for problem in problems}
    return "error" if "error" in severities else "warning" if "warning" in severities else "none"


def report(name: str, part: str, *, show: bool) -> None:
    total: Counter[str] = Counter()
    by_class: dict[str, Counter[str]] = defaultdict(Counter)
    cases = read_cases(f"{name}_{part}") if part in ("later", "last", "rounds") else draw_part(read_cases(name), part)
    for case in cases:
        problems = check(case)
        verdict = worst(problems)
        total[verdict] += 1
        by_class[case.attack][verdict] += 1
        if show and (verdict == "none") == (name == "malicious"):
            codes = ", ".join(sorted({problem.code for problem in problems}))
            print(f"  {case.attack} {case.language} {case.place} {case.encoding} {codes}: {case.text[:160]!r}")
            for problem in problems:
                print("      ", problem.message)
    count, flagged = total.total(), total["error"] + total["warning"]
    print(f"{name:10} {part:9} {flagged:4} of {count:4} {flagged / count:6.1%}   (error {total['error']})")
    print("   ", ", ".join(f"{key} {each.total() - each['none']}/{each.total()}" for key, each in by_class.items()))


def report_skills(name: str) -> None:
    """Whole skills, by kind: hostile, hard (harmless, and in the words of the attacks) and ordinary."""
    by_kind: dict[str, Counter[str]] = defaultdict(Counter)
    for line in (FOLDER / f"skills_{name}.jsonl").read_text(encoding="utf-8").splitlines():
        skill = json.loads(line)
        texts = [AuthorText("skill.md", (), skill["skill_md"]), *find_json_texts("tools.json", skill.get("tools", []))]
        by_kind[skill["kind"]][worst(check_texts(texts))] += 1
    for kind, verdicts in by_kind.items():
        count, flagged = verdicts.total(), verdicts.total() - verdicts["none"]
        print(f"{name:10} {kind:9} {flagged:4} of {count:4} {flagged / count:6.1%}   (error {verdicts['error']})")


def read_everyday() -> dict[str, list[str]]:
    """The sentences of everyday/ by the names of their files; its README.md has sources and licenses."""
    paths = sorted((FOLDER / "everyday").glob("*.txt"))
    return {path.stem: path.read_text(encoding="utf-8").splitlines() for path in paths}


def report_everyday() -> None:
    for name, sentences in read_everyday().items():
        page = PAGE.format(front="", body="{}")
        verdicts = Counter(worst(check_texts([AuthorText("skill.md", (), page.format(each))])) for each in sentences)
        count, flagged = verdicts.total(), verdicts.total() - verdicts["none"]
        print(f"{name:20} {flagged:4} of {count:4} {flagged / count:6.1%}   (error {verdicts['error']})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "part",
        nargs="?",
        choices=["develop", "held-out", "later", "last", "rounds", "skills", "everyday"],
        default="develop",
    )
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    if arguments.part == "skills":
        report_skills("first")
        report_skills("second")
        report_skills("third")
        report_skills("fourth")
        return
    if arguments.part == "everyday":
        report_everyday()
        return
    for name in ("malicious", "benign"):
        report(name, arguments.part, show=arguments.show)


if __name__ == "__main__":
    main()
