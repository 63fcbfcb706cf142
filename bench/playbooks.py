"""How well `capability_search` finds the playbook for a problem in a customer's or an operator's words.

    python bench/playbooks.py FOLDER [--embedder multilingual|minilm|none] [--ranking hybrid|coverage] [--misses]

FOLDER holds `abcd_guidelines.jsonl` (`flow`, `flow_description`, `subflow`, `instructions`, `actions`) and
`prometheus-runbooks/AREA/ALERT.md` (front matter with `title`, sections Meaning, Impact, ...): the sources that
docs/matching.md names. Each becomes a playbook by rule, none by hand; all of them are searched together. The messages,
`bench/messages/playbooks.csv`, were written before the first run, from the titles alone. Prints Markdown.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings")
os.environ.setdefault("DATA_DIR", tempfile.mkdtemp())

import django

django.setup()

from matching import make_embedder

from capability_rules.bundles.profile import CapabilityProfile
from registry.matching.search import Ranking, SearchIndex, term_stems, texts_to_embed

Playbook = tuple[CapabilityProfile, str]
MESSAGES = Path(__file__).parent / "messages" / "playbooks.csv"
AIMS = {1: 72, 3: 87, 5: 95}
_SECTION = re.compile(r"^## +(\w+)[^\n]*\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_MARKUP = re.compile(r"<[^>]+>|\{\{.*?\}\}|[`*#\[\]]")


def guidelines(folder: Path) -> Iterator[Playbook]:
    """The problem is the title with what the guideline says first; keywords are what its flow is about."""
    for line in (folder / "abcd_guidelines.jsonl").read_text().splitlines():
        row = json.loads(line)
        keywords = (row["flow"], *row["flow_description"].split(", "))
        steps = [step["text"] + " " + " ".join(step["subtext"]) for step in row["actions"]]
        problem = f"{row['subflow']}. {row['instructions'][0]}"
        known = CapabilityProfile(row["subflow"], row["subflow"], problem=problem, keywords=tuple(keywords))
        yield known, "\n".join([*row["instructions"], *steps])


def runbooks(folder: Path) -> Iterator[Playbook]:
    """The problem is the title with the section Meaning, conditions are the section Impact."""
    for path in sorted((folder / "prometheus-runbooks").glob("*/*.md")):
        text = path.read_text()
        title = re.search(r"^title: *(.+)$", text, re.MULTILINE)
        sections = {name: _MARKUP.sub(" ", body).strip() for name, body in _SECTION.findall(text)}
        name = title.group(1).strip() if title else path.stem
        impact = sections.get("Impact", "")
        known = CapabilityProfile(
            path.stem,
            name,
            problem=f"{name}. {sections.get('Meaning', '')}".strip(),
            conditions=(impact,) if impact else (),
            keywords=(path.parent.name, path.stem),
        )
        yield known, text


def messages() -> list[tuple[str, str]]:
    """(playbook, what somebody says)."""
    with MESSAGES.open() as handle:
        return [(row["playbook"], row["message"]) for row in csv.DictReader(handle)]


def recalls(found: list[list[str]], wanted: list[str]) -> str:
    """The share, in per cent, whose playbook is among the first 1, 3 and 5."""
    shares = [
        100 * sum(name in ids[:top] for ids, name in zip(found, wanted, strict=True)) / len(found) for top in AIMS
    ]
    return " | ".join(f"{share:.1f}" for share in shares)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--embedder", choices=["multilingual", "minilm", "none"], default="multilingual")
    parser.add_argument("--ranking", choices=["hybrid", "coverage"], default="hybrid")
    parser.add_argument("--misses", action="store_true")
    options = parser.parse_args()
    embedder = make_embedder(options.embedder)
    playbooks = [*guidelines(options.folder), *runbooks(options.folder)]
    index = SearchIndex(
        [known for known, _ in playbooks],
        [term_stems(known, doc) for known, doc in playbooks],
        embedder.embed([text for known, _ in playbooks for text in texts_to_embed(known)]) if embedder else None,
    )
    asked = messages()
    seconds = []
    found = []
    for _, message in asked:
        began = time.perf_counter()
        vector = embedder.embed_messages([message])[0] if embedder else None
        ranking: Ranking = options.ranking
        found.append([one.capability_id for one in index.search(message, vector, top=5, ranking=ranking)])
        seconds.append(time.perf_counter() - began)
    print(f"{len(playbooks)} playbooks, {len(asked)} messages, {options.embedder}, {options.ranking};", end=" ")
    print(f"p50 {1000 * median(seconds):.1f} ms\n")
    print("| messages | recall@1 | recall@3 | recall@5 |\n| --- | ---: | ---: | ---: |")
    support = {known.capability_id for known, _ in guidelines(options.folder)}
    parts: dict[str, Callable[[str], bool]] = {
        "all": lambda _: True,
        "customers of a shop": support.__contains__,
        "operators of a cluster": lambda name: name not in support,
    }
    for title, belongs in parts.items():
        places = [place for place, (name, _) in enumerate(asked) if belongs(name)]
        print(f"| {title} | {recalls([found[place] for place in places], [asked[place][0] for place in places])} |")
    if options.misses:
        for (name, message), ids in zip(asked, found, strict=True):
            if ids[:1] != [name]:
                print(name, "<-", message, "->", ids)


if __name__ == "__main__":
    main()
