"""List what refuses texts of folders: `python bench/security_firings.py FOLDER... [--show N]`.

Counts the findings of severity `error` by what the message says was seen, and shows the first N of each with its file,
for a person to judge. Every text file below 100 kB is read as a skill.md. The files are data: nothing in them is
followed.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from capability_rules.validation.codes import list_codes
from capability_rules.validation.security.scanner import check_texts
from capability_rules.validation.security.text_corpus import AuthorText

LARGEST_FILE = 100_000
_NUMBER = re.compile(r"^\d+ ")


def list_refusals(folders: list[Path]) -> Iterator[tuple[str, str, Path]]:
    """What was seen, the message, and the file, of each finding that refuses."""
    for path in sorted(path for folder in folders for path in folder.rglob("*") if path.is_file()):
        text = read_text(path)
        for each in check_texts([AuthorText("skill.md", (), text)]) if text else ():
            if (each.severity or list_codes()[each.code].severity) == "error":
                seen = each.message.removeprefix("Seen: ").partition(': "')[0]
                yield f"{each.code}: {_NUMBER.sub('', seen)}", each.message, path


def read_text(path: Path) -> str:
    """The text of a file with plain line ends, empty where it is too large or not a text."""
    if path.stat().st_size > LARGEST_FILE:
        return ""
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError:
        return ""
    return "" if "\0" in text else text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--show", type=int, default=0)
    arguments = parser.parse_args()
    found: dict[str, list[tuple[str, Path]]] = defaultdict(list)
    for seen, message, path in list_refusals(arguments.folders):
        found[seen].append((message, path))
    for seen, places in sorted(found.items(), key=lambda item: -len(item[1])):
        print(f"{len(places):5} in {len({path for _, path in places}):4} files  {seen}")
        for message, path in places[: arguments.show]:
            print(f"        {path}: {message}")


if __name__ == "__main__":
    main()
