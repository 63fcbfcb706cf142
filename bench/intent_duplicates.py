"""How often two capabilities are rightly told to be for one intent, by thresholds and by model.

    python bench/intent_duplicates.py SKILLS INTENTS [--embedder multilingual|minilm]

SKILLS holds folders with SKILL.md. The pairs of bench/messages/duplicate_pairs.csv were chosen and judged by reading
names, descriptions and skill docs, before any score was looked at: `yes`, `no`, or `either` where it can be seen both
ways. INTENTS holds the files of bench/matching.py: each intent twice, with other sentences of the training split and
another name (its longest suggested trigger), is a pair that is for one intent, and two intents are one that is not.
Prints Markdown: how many of those that are for one intent are found, and how many others, by the cosine of the
middles alone and as the product does it.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings")
os.environ.setdefault("DATA_DIR", tempfile.mkdtemp())

from imported_skills import read_all_profiles
from matching import SEED, Vectors, make_embedder

from capability_rules.bundles.profile import CapabilityProfile
from registry.matching.embedding import normalize_vectors
from registry.matching.intent_duplicates import KnownIntent, are_duplicates, have_distinct_names, measure_overlap

COSINES = (0.65, 0.70, 0.75, 0.80, 0.83, 0.87)
OVERLAPS = (0.25, 0.30, 0.35, 0.40)
Pair = tuple[KnownIntent, KnownIntent]


def make_intents(profiles: Iterable[CapabilityProfile], vectors: Vectors) -> list[KnownIntent]:
    """Each with the vectors of its samples."""
    listed = list(profiles)
    vectors.of([text for one in listed for text in one.samples])
    rows = [vectors.of(list(one.samples)) for one in listed]
    return [
        KnownIntent(one, normalize_vectors(own.sum(axis=0)), own)
        for one, own in zip(listed, rows, strict=True)
        if own is not None
    ]


def cosine(pair: Pair) -> float:
    """Of the middles."""
    return float(pair[0].middle @ pair[1].middle)


def overlap(pair: Pair) -> float:
    """As the product measures it; 0 without vectors."""
    first, second = pair[0].vectors, pair[1].vectors
    return 0.0 if first is None or second is None else measure_overlap(first, second)


def read_verdicts() -> dict[frozenset[str], str]:
    """`{two ids: verdict}`."""
    with (HERE / "messages" / "duplicate_pairs.csv").open(encoding="utf-8") as file:
        return {frozenset((row["first"], row["second"])): row["verdict"] for row in csv.DictReader(file)}


def show_skills(folder: Path, vectors: Vectors) -> None:
    """All pairs of the skills and examples, by verdict; those that were not judged beforehand are named."""
    verdicts = read_verdicts()
    intents = make_intents(read_all_profiles(folder).values(), vectors)
    near = [pair for pair in combinations(intents, 2) if cosine(pair) >= COSINES[0]]
    told = Counter(verdicts.values())
    print(f"\n{len(intents)} skills and examples; judged: {dict(told)}\n")
    print("| told to be for one intent by | yes | either | no | not judged |")
    print("| --- | ---: | ---: | ---: | ---: |")

    def line(title: str, found: list[Pair]) -> None:
        of = Counter(verdicts.get(_ids(pair), "not judged") for pair in found)
        print("|", title, "|", " | ".join(str(of[each]) for each in ("yes", "either", "no", "not judged")), "|")

    for least in COSINES:
        line(f"cosine {least:.2f}", [pair for pair in near if cosine(pair) >= least])
    for least in OVERLAPS:
        mixed = [pair for pair in near if overlap(pair) >= least]
        line(f"cosine {COSINES[0]:.2f}, overlap {least:.2f}", mixed)
        line("the same, not told apart by name", [pair for pair in mixed if not _have_distinct_names(pair)])
    found = [pair for pair in near if are_duplicates(*pair)]
    line("the product", found)
    print()
    for pair in found:
        print(f"{cosine(pair):.2f} {overlap(pair):.2f} {verdicts.get(_ids(pair), 'not judged')}", *sorted(_ids(pair)))


def show_intents(folder: Path, name: str, vectors: Vectors) -> None:
    """Of intents with 3 to 20 example messages: found of those that are one, and wrong ones of all pairs."""
    print(f"\n{name}: found of the intents that are there twice, wrong ones of all pairs of two intents\n")
    print("| sentences | " + " | ".join(f"cosine {one:.2f}" for one in COSINES) + " | the product | wrong |")
    print("| ---: " * (len(COSINES) + 2) + "| --- |")
    for count in (3, 5, 10, 20):
        first, second = (make_intents(side, vectors) for side in read_twice(folder, name, count))
        same = list(zip(first, second, strict=True))
        others = [pair for pair in combinations(first, 2) if cosine(pair) >= COSINES[0]]
        cells = [
            f"{_share(cosine(pair) >= least for pair in same)}, {sum(cosine(pair) >= least for pair in others)}"
            for least in COSINES
        ]
        wrong = [pair for pair in others if are_duplicates(*pair)]
        cells.append(f"{_share(are_duplicates(*pair) for pair in same)}, {len(wrong)}")
        print(f"| {count} |", " | ".join(cells), "|", "; ".join(", ".join(sorted(_ids(pair))) for pair in wrong), "|")


def read_twice(folder: Path, name: str, count: int) -> tuple[list[CapabilityProfile], list[CapabilityProfile]]:
    """Each intent with `count` sentences, and again with as many others and another name."""
    by_id: dict[str, list[str]] = defaultdict(list)
    with (folder / f"{name}_utterances.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["source_split"] == "train":
                by_id[row["capability_id"]].append(row["text"])
    drawing = random.Random(SEED)
    first, second = [], []
    for line in (folder / f"{name}_capabilities.jsonl").read_text("utf-8").splitlines():
        intent = json.loads(line)
        texts = sorted(by_id[intent["capability_id"]])
        drawing.shuffle(texts)
        if len(texts) >= 2 * count:
            named = max(intent.get("suggested_triggers") or [intent["name"]], key=len)
            first.append(CapabilityProfile(intent["capability_id"], intent["name"], sentences=tuple(texts[:count])))
            second.append(CapabilityProfile("again", named, sentences=tuple(texts[count : 2 * count])))
    return first, second


def _have_distinct_names(pair: Pair) -> bool:
    return have_distinct_names(pair[0].profile, pair[1].profile)


def _ids(pair: Pair) -> frozenset[str]:
    return frozenset(one.profile.capability_id for one in pair)


def _share(found: Iterable[bool]) -> str:
    values = list(found)
    return f"{100 * sum(values) / len(values):.0f} %"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("skills", type=Path)
    parser.add_argument("intents", type=Path)
    parser.add_argument("--embedder", choices=["multilingual", "minilm"], default="multilingual")
    options = parser.parse_args()
    vectors = Vectors(make_embedder(options.embedder))
    show_skills(options.skills, vectors)
    for name in ("clinc150", "banking77"):
        show_intents(options.intents, name, vectors)


if __name__ == "__main__":
    main()
