"""The terminal playground's transcripts in docs/agents/, made by really running it.

`python -m capability_client.tests.transcripts` writes them again, into the page as well.
"""

from __future__ import annotations

import re
import subprocess
import sys

from tests.servers import ROOT

FOLDER = ROOT / "docs" / "agents" / "transcripts"
PAGE = ROOT / "docs" / "agents.md"
NAMES = ("introduction", "weighing", "form", "excel", "refund")
USERS = {"introduction": "", "weighing": "Alice", "form": "Alice", "excel": "Alice", "refund": "Sam"}


def play(name: str) -> str:
    """What the terminal shows; ids that differ from run to run are numbered."""
    command = [sys.executable, "-m", "capability_client", "--skills-dir", str(ROOT / "examples")]
    command += ["--environment", str(FOLDER / "environment.json"), "chat", "--user", USERS[name]]
    typed = (FOLDER / f"{name}.in").read_text("utf-8")
    done = subprocess.run(
        command, input=typed, capture_output=True, text=True, encoding="utf-8", check=True, cwd=ROOT, timeout=60
    )
    text = done.stdout
    for kind in ("call", "form"):
        ids = dict.fromkeys(re.findall(rf"{kind}_[0-9a-f]{{16}}", done.stdout))
        for number, each in enumerate(ids, start=1):
            text = text.replace(each, f"{kind}_{number}")
    return text.strip() + "\n"


def in_page(page: str, name: str) -> str:
    """What the page shows under a name."""
    found = re.search(rf"<!-- transcript: {name} -->\n```text\n(.*?)```\n", page, re.DOTALL)
    assert found is not None, name
    return found[1]


def main() -> None:
    """Write them into the page."""
    page = PAGE.read_text("utf-8")
    for name in NAMES:
        head = f"<!-- transcript: {name} -->\n```text\n"
        page = page.replace(f"{head}{in_page(page, name)}```", f"{head}{play(name)}```")
    PAGE.write_text(page, "utf-8")


if __name__ == "__main__":
    main()
