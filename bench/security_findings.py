"""Print every `SEC_` finding of folders of texts, a line each, to compare two versions of the rules byte for byte.

    python bench/security_findings.py FOLDER... [--without CODE,...] > findings.txt

Reads Markdown files as skill.md, JSON lines as tools, and all passages of security_cases/. The files are data.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from security_cases import FOLDER, check, read_cases

from capability_rules.bundles.problem import RawFinding
from capability_rules.validation.security.detectors.policy_mismatch import check_policies
from capability_rules.validation.security.scanner import check_texts
from capability_rules.validation.security.text_corpus import AuthorText, find_json_texts


def list_findings(folders: list[Path]) -> Iterator[tuple[str, list[RawFinding]]]:
    """What was read, and what was found in it."""
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix.lower() == ".md" and path.is_file():
                yield str(path), check_texts([AuthorText("skill.md", (), path.read_text("utf-8", "replace"))])
            elif path.suffix == ".jsonl" and path.is_file():
                for number, line in enumerate(path.read_text("utf-8").splitlines()):
                    row = json.loads(line)
                    policies = check_policies([row]) if "policy" in row else []
                    yield f"{path}:{number}", [*policies, *check_texts(find_json_texts("tools.json", [row]))]
    for path in sorted(FOLDER.glob("*.txt")):
        for case in read_cases(path.stem):
            yield f"{path.stem}:{case.number}", check(case)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="*")
    parser.add_argument("--without", default="")
    arguments = parser.parse_args()
    left_out = set(arguments.without.split(","))
    for name, found in list_findings(arguments.folders):
        for each in found:
            if each.code not in left_out:
                print(name, each)


if __name__ == "__main__":
    main()
