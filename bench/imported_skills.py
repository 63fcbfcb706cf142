"""How well everyday messages in several languages find Agent Skills as they are imported, with nobody working on them.

    python bench/imported_skills.py FOLDER [--messages imported_skills] [--embedder NAME] [--others 0]
        [--part learn|test|all] [--misses]

FOLDER holds folders with SKILL.md. The registry has the seven examples, each skill that the file of messages names
(imported_skills; imported_skills_second and imported_skills_unseen have other skills), and `--others` more, drawn with
a fixed seed. A row of the file has `language`, `text`, `capability_ids` (any of them is right, parted by |; empty where
nothing fits) and `denied` (what the message says no to); `part` is `learn` for what constants may be chosen on, `test`
for what they are then measured on. The messages were written from the skills' names. Prints Markdown, with the
matcher's CPU time for a message as quartiles.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings")
os.environ.setdefault("DATA_DIR", tempfile.mkdtemp())

import numpy as np
from matching import Vectors, make_embedder, make_matcher

from capability_client.session.turns import NAMED_MAX
from capability_rules.agent_skills.importer import import_skill
from capability_rules.bundles.profile import CapabilityProfile, profile_from_text
from capability_rules.discovery.bundle_discovery import discover_bundles
from registry.matching.denied_intents import match_wanted
from registry.matching.matcher import Matcher, MatchResult

SEED = 0


@dataclass(frozen=True)
class Message:
    """A message with what is right for it."""

    part: str
    language: str
    text: str
    wanted: frozenset[str]
    denied: str


@dataclass(frozen=True)
class Outcome:
    """What a message led to."""

    message: Message
    found: MatchResult

    @property
    def first(self) -> str:
        """What stands first, empty for nothing."""
        return self.found.matches[0].capability_id if self.found.matches else ""

    @property
    def is_hinted(self) -> bool:
        """Whether it leads anywhere."""
        return self.found.decision != "none"

    @property
    def is_right(self) -> bool:
        """Whether it leads to what is wanted, or nowhere where nothing is."""
        if not self.message.wanted:
            return not self.is_hinted or (self.message.denied != "" and not self.hints_denied)
        return self.is_hinted and self.first in self.message.wanted and not self.hints_denied

    @property
    def hints_denied(self) -> bool:
        """Whether it leads to what it says no to."""
        shown = {one.capability_id for one in self.found.matches if not one.is_below_threshold}
        return self.is_hinted and self.message.denied in shown

    @property
    def is_among_rows(self) -> bool:
        """Whether what is wanted is in the answer at all."""
        return bool(self.message.wanted & {one.capability_id for one in self.found.matches})


def read_messages(name: str = "imported_skills") -> list[Message]:
    """All rows of the file."""
    with (HERE / "messages" / f"{name}.csv").open(encoding="utf-8") as file:
        return [
            Message(
                row["part"],
                row["language"],
                row["text"],
                frozenset(filter(None, row["capability_ids"].split("|"))),
                row["denied"],
            )
            for row in csv.DictReader(file)
        ]


def read_profiles(folder: Path, named: frozenset[str], others: int) -> list[CapabilityProfile]:
    """The examples, the named skills and so many others."""
    found = read_all_profiles(folder)
    examples = _profiles_in(HERE.parent / "examples")
    rest = sorted(found.keys() - named - examples.keys())
    chosen = {*named, *examples, *random.Random(SEED).sample(rest, min(others, len(rest)))}
    known = {name: found[name] for name in chosen if name in found}
    missing = named - known.keys()
    if missing:
        raise SystemExit(f"FOLDER has none of {', '.join(sorted(missing))}")
    return [known[name] for name in sorted(known)]


def read_all_profiles(folder: Path) -> dict[str, CapabilityProfile]:
    """All skills in the folder, and the examples."""
    return _profiles_in(folder) | _profiles_in(HERE.parent / "examples")


def _profiles_in(folder: Path) -> dict[str, CapabilityProfile]:
    taken = [import_skill(source).files or {} for source in discover_bundles(str(folder))]
    profiles = [
        profile_from_text(_text(files["capability.json"]), _text(files.get("skill.md", "")))
        for files in taken
        if "capability.json" in files
    ]
    return {one.capability_id: one for one in profiles if one.capability_id and one.samples}


def _text(content: str | bytes) -> str:
    return content if isinstance(content, str) else content.decode()


def match_all(matcher: Matcher, messages: list[Message], vectors: Vectors) -> tuple[list[Outcome], list[float]]:
    """What each message leads to, and the milliseconds of CPU that each took, its vectors included."""
    outcomes, spent = [], []
    for message in messages:
        began = time.process_time()
        found = match_wanted(matcher, message.text, vectors.again, top=NAMED_MAX)
        spent.append((time.process_time() - began) * 1000)
        outcomes.append(Outcome(message, found))
    return outcomes, spent


def share(outcomes: list[Outcome], is_so: str) -> str:
    """In per cent, with counts."""
    count = sum(getattr(one, is_so) for one in outcomes)
    return f"{100 * count / len(outcomes):.0f} ({count} of {len(outcomes)})" if outcomes else "-"


def row(title: str, outcomes: list[Outcome]) -> str:
    """A line of the table: what is wanted, what fits nothing, what is denied."""
    denied = [one for one in outcomes if one.message.denied]
    wanted = [one for one in outcomes if one.message.wanted and not one.message.denied]
    nothing = [one for one in outcomes if not one.message.wanted and not one.message.denied]
    wrong = [one for one in wanted if one.is_hinted and one.first not in one.message.wanted]
    return (
        f"| {title} | {share(wanted, 'is_right')} | {share(wanted, 'is_among_rows')} | {len(wrong)} | "
        f"{share(nothing, 'is_right')} | {share(denied, 'is_right')} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--messages", default="imported_skills")
    parser.add_argument("--embedder", choices=["multilingual", "minilm", "none"], default="multilingual")
    parser.add_argument("--others", type=int, default=0)
    parser.add_argument("--part", choices=["learn", "test", "all"], default="all")
    parser.add_argument("--misses", action="store_true")
    options = parser.parse_args()
    messages = read_messages(options.messages)
    named = frozenset(name for one in messages for name in (*one.wanted, one.denied) if name)
    known = read_profiles(options.folder, named, options.others)
    vectors = Vectors(make_embedder(options.embedder))
    matcher, _ = make_matcher(known, vectors)
    match_wanted(matcher, "the first one loads the model", vectors.again)
    chosen = [one for one in messages if options.part in ("all", one.part)]
    outcomes, spent = match_all(matcher, chosen, vectors)
    print(f"{len(known)} capabilities, {len(chosen)} messages, {options.embedder}, part: {options.part}")
    print("CPU of a message, quartiles in ms:", *(f"{one:.1f}" for one in np.percentile(spent, [25, 50, 75])), "\n")
    print("| language | right | wanted among the rows | wrong one hinted | nothing fits: refused | denied: right |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    by_language: dict[str, list[Outcome]] = defaultdict(list)
    for one in outcomes:
        by_language[one.message.language].append(one)
    for language, of_language in by_language.items():
        print(row(language, of_language))
    print(row("all but en", [one for one in outcomes if one.message.language != "en"]))
    if options.misses:
        for one in outcomes:
            if not one.is_right:
                wanted = "|".join(sorted(one.message.wanted)) or "nothing"
                shown = [(each.capability_id, each.score) for each in one.found.matches]
                print(f"  {one.message.language} {one.message.text!r}: {wanted}; {one.found.decision} {shown}")


if __name__ == "__main__":
    main()
