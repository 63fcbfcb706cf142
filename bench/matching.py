"""How well messages find their capability, on sentences that the matcher has never seen.

    python bench/matching.py FOLDER [--intents clinc150] [--sentences 0 5 20] [--tests 4000] [--pairs 1000]
        [--embedder multilingual|minilm|none]

FOLDER holds NAME_capabilities.jsonl (`capability_id`, `name`, `suggested_triggers`?) and NAME_utterances.csv (`text`,
`capability_id`, empty for what no capability is for, `source_split`). Each intent becomes a capability with its name,
its suggested triggers and so many of its training sentences as example messages, drawn with a fixed seed; the rest of
its sentences are the messages. A second table has two test sentences of different intents joined by "and", a comma or
"then", which need exactly their two capabilities, and single test sentences, which need one. Prints Markdown, with
counts where they matter, and CPU time. CLINC150 and BANKING77 are at the sources that docs/matching.md names.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings")
os.environ.setdefault("DATA_DIR", tempfile.mkdtemp())

import django

django.setup()

import numpy as np

from capability_rules.bundles.profile import CapabilityProfile
from registry.matching.calibration import EVERYDAY_MESSAGES
from registry.matching.clauses import split_clauses
from registry.matching.denied_intents import match_wanted
from registry.matching.embedding import Embedder
from registry.matching.example_similarity import ExampleSimilarity, build_training_examples
from registry.matching.matcher import Matcher, MatchResult
from registry.matching.minilm import MiniLmEmbedder
from registry.matching.multilingual import PairEmbedder
from registry.matching.ngram_index import Floats
from registry.matching.skill_doc_similarity import SkillDocSimilarity, prose_texts

Message = tuple[str, str]
SEED = 0
JOINTS = (" and ", ", ", ", and ", " then ", ", then ", " and then ")


class Vectors:
    """The vectors of texts, each made once."""

    def __init__(self, embedder: Embedder | None) -> None:
        self.embedder = embedder
        self.seconds = 0.0
        self._known: dict[str, Floats] = {}
        self._messages: dict[str, Floats] = {}

    def of(self, texts: list[str]) -> Floats | None:
        """Of what is known."""
        return None if self.embedder is None else self._made(texts, self._known, self.embedder.embed)

    def of_messages(self, texts: list[str]) -> Floats | None:
        if self.embedder is None:
            return None
        return self._made(texts, self._messages, self.embedder.embed_messages)

    def one(self, text: str) -> Floats | None:
        found = self.of_messages([text])
        return None if found is None else found[0]

    def again(self, texts: list[str]) -> Floats | None:
        """Of messages, made each time, as in the server."""
        if self.embedder is None or not all(map(self.embedder.can_read, texts)):
            return None
        return self.embedder.embed_messages(texts)

    def _made(self, texts: list[str], held: dict[str, Floats], make: Callable[[list[str]], Floats]) -> Floats:
        missing = [text for text in dict.fromkeys(texts) if text not in held]
        began = time.process_time()
        if not texts and self.embedder is not None:
            return np.zeros((0, self.embedder.dimension), np.float32)
        if missing:
            held |= dict(zip(missing, make(missing), strict=True))
        self.seconds += time.process_time() - began
        return np.stack([held[text] for text in texts])


def make_embedder(name: str) -> Embedder | None:
    """The embedder of that name; None for "none"."""
    made = {"minilm": MiniLmEmbedder, "multilingual": PairEmbedder}
    return made[name]() if name in made else None


def read(folder: Path, name: str, count: int) -> tuple[list[CapabilityProfile], list[Message], list[str]]:
    """Capabilities with `count` example messages each, unseen messages with their capability, and foreign messages."""
    drawing = random.Random(SEED)
    by_id: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in csv.DictReader((folder / f"{name}_utterances.csv").open()):
        by_id[row["capability_id"]].append(row)
    known, messages = [], []
    for line in (folder / f"{name}_capabilities.jsonl").read_text().splitlines():
        intent = json.loads(line)
        rows = sorted(by_id[intent["capability_id"]], key=lambda row: row["text"])
        training = [row["text"] for row in rows if row["source_split"] == "train"]
        drawing.shuffle(training)
        golden = set(training[:count])
        known.append(
            CapabilityProfile(
                intent["capability_id"],
                intent["name"],
                triggers=tuple(intent.get("suggested_triggers", ())),
                sentences=tuple(sorted(golden)),
            )
        )
        messages += [(row["text"], intent["capability_id"]) for row in rows if row["text"] not in golden]
    drawing.shuffle(messages)
    return known, messages, [row["text"] for row in by_id.get("", [])]


def read_test(folder: Path, name: str) -> list[Message]:
    """The sentences of the test split with their capability."""
    rows = csv.DictReader((folder / f"{name}_utterances.csv").open())
    return [
        (row["text"], row["capability_id"]) for row in rows if row["source_split"] == "test" and row["capability_id"]
    ]


def make_matcher(known: list[CapabilityProfile], vectors: Vectors) -> tuple[Matcher, float]:
    """A matcher with its head, and the seconds of CPU that the fit took."""
    samples = build_training_examples([one.samples for one in known])
    everyday, prose, made = (
        vectors.of([*EVERYDAY_MESSAGES]),
        vectors.of(prose_texts(known)),
        vectors.of([*samples.texts]),
    )
    background = None if everyday is None or vectors.embedder is None else vectors.embedder.make_background(everyday)
    docs = None if prose is None else SkillDocSimilarity(known, prose)
    began = time.process_time()
    evidence = ExampleSimilarity(samples, made, skill_docs=docs, background=background)
    if evidence.weights is None:
        evidence.weights = evidence.fit()
    return Matcher(known, evidence), time.process_time() - began


def measure(matcher: Matcher, fitted: float, messages: list[Message], foreign: list[str], vectors: Vectors) -> str:
    """A line of the table."""
    vectors.of_messages([text for text, _ in messages] + foreign)
    began = time.process_time()
    verdicts = [(matcher.match(text, vectors.one(text)), wanted) for text, wanted in messages]
    milliseconds = (time.process_time() - began) / len(messages) * 1000
    first = share(bool(_ids(verdict)) and _ids(verdict)[0] == wanted for verdict, wanted in verdicts)
    third = share(wanted in _ids(verdict)[:3] for verdict, wanted in verdicts)
    kept = share(verdict.decision != "none" and _ids(verdict)[0] == wanted for verdict, wanted in verdicts)
    asked = share(verdict.decision == "ambiguous" for verdict, _ in verdicts)
    refused = [matcher.match(text, vectors.one(text)).decision == "none" for text in foreign]
    return (
        f"{len(messages)} | {first} | {third} | {kept} | {asked} | {count(refused) if foreign else '-'} | "
        f"{milliseconds:.2f} ms | {fitted:.1f} s"
    )


def measure_several(matcher: Matcher, tests: list[Message], foreign: list[str], pairs: int, vectors: Vectors) -> str:
    """A line of the second table: pairs, single sentences, and a test sentence joined with a foreign one."""
    drawing = random.Random(SEED)

    def needed(text: str) -> tuple[str, ...]:
        return match_wanted(matcher, text, vectors.of_messages).needed

    def joined(one: str, two: str) -> str:
        return one.rstrip(" .,;") + drawing.choice(JOINTS) + two

    two_intents: list[tuple[str, set[str]]] = []
    while len(two_intents) < pairs:
        (one, first), (two, second) = drawing.sample(tests, 2)
        if first != second:
            two_intents.append((joined(one, two), {first, second}))
    vectors.of_messages([text for text, _ in two_intents] + [text for text, _ in tests])
    spent = vectors.seconds
    began = time.process_time()
    both = [(needed(text), wanted) for text, wanted in two_intents]
    milliseconds = (time.process_time() - began - (vectors.seconds - spent)) / pairs * 1000
    exact = count(set(found) == wanted for found, wanted in both)
    single = {text: len(needed(text)) > 1 for text, _ in tests}
    false = count(single.values())
    false_cut = count(is_false for text, is_false in single.items() if len(split_clauses(text)) > 1)
    false_and = count(is_false for text, is_false in single.items() if " and " in f" {text.lower()} ")
    halves = [joined(drawing.choice(tests)[0], text) for text in foreign[: pairs // 4]]
    half = count(len(needed(text)) > 1 for text in halves) if foreign else "-"
    return f"{exact} | {false} | {false_cut} | {false_and} | {half} | {milliseconds:.1f} ms"


def _ids(verdict: MatchResult) -> list[str]:
    return [match.capability_id for match in verdict.matches]


def share(found: object) -> str:
    """In per cent."""
    values = list(found)  # type: ignore[call-overload]
    return f"{100 * sum(values) / max(1, len(values)):.1f}"


def count(found: object) -> str:
    """In per cent, and how many of how many."""
    values = [bool(one) for one in found]  # type: ignore[attr-defined]
    return f"{share(values)} ({sum(values)} of {len(values)})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--intents", default="clinc150")
    parser.add_argument("--sentences", type=int, nargs="+", default=[0, 5, 20])
    parser.add_argument("--embedder", choices=["multilingual", "minilm", "none"], default="multilingual")
    parser.add_argument("--tests", type=int, default=4000)
    parser.add_argument("--pairs", type=int, default=1000)
    options = parser.parse_args()
    vectors = Vectors(make_embedder(options.embedder))
    tests = read_test(options.folder, options.intents)
    several = []
    print("| sentences | messages | top-1 | top-3 | right and kept | asked back | foreign refused | a message | fit |")
    print("| ---: " * 9 + "|")
    for sentences in options.sentences:
        known, messages, foreign = read(options.folder, options.intents, sentences)
        matcher, fitted = make_matcher(known, vectors)
        row = measure(matcher, fitted, messages[: options.tests], foreign, vectors)
        print(f"| {sentences} | {row} |", flush=True)
        several.append(f"| {sentences} | {measure_several(matcher, tests, foreign, options.pairs, vectors)} |")
    print()
    print(
        '| sentences | pairs: exactly the two | single: more than one | of those with clauses | with "and" '
        "| half foreign: two | a pair |"
    )
    print("| ---: " * 7 + "|")
    print(*several, sep="\n")


if __name__ == "__main__":
    main()
