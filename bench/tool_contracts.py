"""How the verdict on real tool contracts agrees with a recorded one, and how long it takes.

    python bench/tool_contracts.py FOLDER

FOLDER holds `*.jsonl`, one tool a line, whose `_source.schema_2020_12` is `valid`, `invalid` or `missing` (recorded
with `jsonschema`'s Draft202012Validator.check_schema). Prints the agreement, every disagreement, and seconds per 1,000
tools.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from capability_rules.validation.rules.tools import check_tools


def read_tools(folder: Path) -> Iterator[tuple[str, dict[str, Any], str]]:
    """`(file, tool, recorded verdict)`."""
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            tool = json.loads(line)
            yield file.name, tool, tool.pop("_source")["schema_2020_12"]


def verdict(tool: dict[str, Any]) -> str:
    """What we say of the arguments' schema."""
    problems = check_tools([tool])
    invalid = any(p.code == "TOOL_SCHEMA_INVALID" and p.path[1:2] == ("args_schema",) for p in problems)
    return "invalid" if invalid else "valid"


def main(folder: Path) -> int:
    tools = list(read_tools(folder))
    check_tools([tool for _, tool, _ in tools[:50]])
    started = time.perf_counter()
    found = [(file, tool, recorded, verdict(tool)) for file, tool, recorded in tools]
    seconds = time.perf_counter() - started
    counts = Counter("missing" if recorded == "missing" else ours == recorded for _, _, recorded, ours in found)
    print(f"{len(tools)} tools, {counts['missing']} without a schema")
    print(f"agree: {counts[True]}   disagree: {counts[False]}")
    for file, tool, recorded, ours in found:
        if recorded not in ("missing", ours):
            print(f"  {file} {tool['name']}: recorded {recorded}, ours {ours}")
    print(f"{seconds / len(tools) * 1000:.2f} s per 1,000 tools")
    return 1 if counts[False] else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
