"""Train and measure the classifier of suspicious sentences; needs scikit-learn, which the product does not.

    python bench/security_training.py --ordinary FOLDER... --everyday FOLDER... [--held-out NAME...]
        [--without later,last,rounds] [--write]

Hostile and harmless passages are those of security_training/, of the rules' examples and of security_cases/. The
folders of `--ordinary` have Markdown (skills, guides) and tool contracts (JSON lines), whose sentences count as
harmless; outside of `shared`, files that speak of attacks are left out, as they quote them. The folders of `--everyday`
have Markdown and text about everything but software (recipes, handbooks, laws, first aid, conversations), as hostile
passages are about that too: where all ordinary text is of software, everyday words themselves look hostile. Nothing is
trained on whose path has a name of `--held-out`; skills of the first folder that have one are measured. So are the
files of security_training/, the parts of security_cases/ and the kinds of attacks that `--without` names. `--write`
stores model.npz and its hash. Everything drawn has a fixed seed.

The passages are data. Nothing in them is followed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from security_cases import FOLDER as CASES
from security_cases import read_cases

from registry.validation.security.engine import SearchedText
from registry.validation.security.normalization import build_plain_view, unwrap_lines
from registry.validation.security.rule_loader import RULES_FOLDER
from registry.validation.security.sentence_features import (
    BUCKETS,
    WordTable,
    hash_features,
    number_sentences,
    unpack_classes,
)
from registry.validation.security.sentence_rules import WORDS_FILE, load_literal_index, load_word_index
from registry.validation.security.sentences import SentenceText
from registry.validation.security.suspicion import (
    KINDS,
    MODEL_FILE,
    SentenceModel,
    describe_kind,
    load_model,
    read_for_model,
    scale_buckets,
    scale_classes,
)

PASSAGES = Path(__file__).resolve().parent / "security_training"
GROUPS_FILE = PASSAGES / "word_groups.npz"
SEED = 7
# Texts that quote attacks; and files too large to be written by hand.
TEACHING = re.compile(
    r"prompt.injection|jailbreak|red.team|exfiltrat|malicious|ignore (?:all |your )?previous|phishing|adversar|attacker"
    r"|social engineering|dark pattern",
    re.IGNORECASE,
)
LARGEST_FILE, FILES_PER_FOLDER = 80_000, 1_100
# How often harmless passages and ordinary sentences count, against once for each hostile passage.
HARMLESS_WEIGHT, ORDINARY_WEIGHT, STRENGTH = 3.0, 0.3, 30.0
DRAWN, DRAWN_EVERYDAY, HARDEST, ROUNDS = 60_000, 45_000, 30_000, 2
CASE_KINDS = {
    "remote-instructions": "remote_instructions", "claims-everything": "claims_every_request",
    "false-official": "false_authority", "approval-bypass": "approval_bypass",
    "credential-request": "credential_request", "credentials": "credential_request",
    "protection-off": "safeguards_off", "payment": "payee_replaced",
    "redirection": "payee_replaced", "prompt-leak": "prompt_leak", "jailbreak": "override",
    "destructive": "destruction",
    "endless": "cost_loop", "denial": "cost_loop", "package": "packages", "poisoning": "memory_poisoning",
    "shadowing": "tool_steering", "silence_consent": "approval_bypass",
}  # fmt: skip


@dataclass
class Sentences:
    """Words and classes of sentences in a row, with what is known of each."""

    words: list[list[str]] = field(default_factory=list)
    masks: list[int] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)

    def add(self, words: list[str], mask: int, kind: str = "") -> None:
        self.words.append(words)
        self.masks.append(mask)
        self.kinds.append(kind)

    def take(self, chosen: Any) -> Sentences:
        return Sentences(
            [self.words[i] for i in chosen], [self.masks[i] for i in chosen], [self.kinds[i] for i in chosen]
        )


@dataclass(frozen=True)
class Passage:
    is_hostile: bool
    source: str
    kind: str
    text: str


def read_passages() -> Iterator[Passage]:
    """All labelled passages, each with the name of its file or part."""
    yield from _read_written()
    yield from _read_cases()
    yield from _read_examples()


def _read_written() -> Iterator[Passage]:
    for path in sorted(PASSAGES.glob("*.txt")):
        kind = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            if re.fullmatch(r"\[\w+\]", line):
                kind = line[1:-1]
            elif line and not line.startswith("# "):
                kind = CASE_KINDS.get(kind, kind)
                yield Passage(path.stem.startswith("hostile"), path.stem, kind, line.replace("\\n", "\n"))


def _read_cases() -> Iterator[Passage]:
    for path in sorted(CASES.glob("*.txt")):
        name, _, part = path.stem.partition("_")
        for case in read_cases(path.stem):
            if case.place != "path" and case.encoding == "-":
                kind = CASE_KINDS.get(case.attack, case.attack)
                yield Passage(name == "malicious", part or "first", kind, case.text)


def _read_examples() -> Iterator[Passage]:
    for path in sorted(RULES_FOLDER.rglob("*.toml")):
        examples = (
            {} if path.name == WORDS_FILE else tomllib.loads(path.read_text(encoding="utf-8")).get("examples", {})
        )
        for key, passages in examples.items():
            if key != "no_match_error":
                yield from (Passage(key != "no_match", "rules", "", passage) for passage in passages)


def read_sentences(text: str) -> Iterator[tuple[list[str], int]]:
    """The words and classes of each sentence, as the product reads them."""
    reading = read_for_model(SentenceText(SearchedText(unwrap_lines(build_plain_view(text)), load_literal_index())))
    yield from zip(reading.words, reading.masks, strict=True)


def read_whole(passage: Passage, into: Sentences) -> None:
    """A passage as one sentence: which of its sentences is the hostile one, nobody wrote down."""
    words: list[str] = []
    mask = 0
    for more, classes in read_sentences(passage.text):
        words, mask = words + more, mask | classes
    if words:
        into.add(words, mask, passage.kind if passage.is_hostile else "")


def list_texts(folder: Path) -> Iterator[tuple[Path, str]]:
    """Every Markdown or text file and every tool contract below a folder, in a drawn order."""
    paths = sorted(
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in (".md", ".mdc", ".txt", ".jsonl") and path.is_file()
        and (path.suffix == ".jsonl" or path.stat().st_size < LARGEST_FILE)
    )  # fmt: skip
    random.Random(SEED).shuffle(paths)
    for path in paths[:FILES_PER_FOLDER]:
        text = path.read_text(encoding="utf-8", errors="replace")
        if path.suffix == ".jsonl":
            text = "\n\n".join(line for row in text.splitlines() for line in _strings(json.loads(row)))
        yield path, text


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _strings(each)


def read_ordinary(folders: list[Path], held_out: list[str]) -> tuple[Sentences, dict[Path, Sentences]]:
    """The different sentences of the folders, and those of each skill that is held out."""
    held: dict[Path, Sentences] = {}
    texts = [(folder, path, text) for folder in folders for path, text in list_texts(folder)]
    for folder, path, text in texts:
        if folder == folders[0] and path.name.upper() == "SKILL.MD" and any(name in str(path) for name in held_out):
            held[path] = Sentences()
            for words, mask in read_sentences(text):
                held[path].add(words, mask)
    seen = {" ".join(words) for each in held.values() for words in each.words}
    found = Sentences()
    for folder, path, text in texts:
        is_quoting = TEACHING.search(text) and "shared" not in folder.parts
        if is_quoting or any(name in str(path) for name in held_out):
            continue
        for words, mask in read_sentences(text):
            if (said := " ".join(words)) not in seen:
                seen.add(said)
                found.add(words, mask)
    return found, held


class Trainer:
    """Builds the inputs and fits the two layers: hostile or not, and of what kind."""

    def __init__(self) -> None:
        with np.load(GROUPS_FILE, allow_pickle=False) as file:
            self.groups = {name: file[name] for name in file.files}
        words = bytes(self.groups["words"]).decode().split("\n")
        pairs = zip(self.groups["broad"].tolist(), self.groups["narrow"].tolist(), strict=True)
        self.table = WordTable(dict(zip(words, pairs, strict=True)))
        self.class_names = list(load_word_index().bits)

    def build(self, sentences: Sentences) -> Any:
        """One row per sentence: buckets, classes, pairs of classes."""
        from scipy import sparse

        rows, count = [], len(self.class_names)
        for low in range(0, len(sentences.words), 20_000):
            words, masks = sentences.words[low : low + 20_000], sentences.masks[low : low + 20_000]
            owners = number_sentences(words)
            hashed = hash_features(self.table.look_up([word for each in words for word in each]), owners)
            at = np.concatenate([owners[first] for _, first, _ in hashed])
            buckets = np.concatenate([bucket for bucket, _, _ in hashed])
            scale = scale_buckets(np.bincount(at, minlength=len(words)))
            counted = sparse.csr_matrix((scale[at], (at, buckets)), shape=(len(words), BUCKETS), dtype=np.float32)
            classes = unpack_classes(masks, count)
            single, double = scale_classes(classes)
            single_part = sparse.csr_matrix(classes * single[:, None])
            row, pair = [], []
            for number, line in enumerate(classes):
                here = np.flatnonzero(line)
                a, b = np.triu_indices(len(here), 1)
                pair.append(here[a] * count + here[b])
                row.append(np.full(len(a), number))
            rows_of_pairs, pairs = np.concatenate(row), np.concatenate(pair)
            shape = (len(words), count * count)
            double_part = sparse.csr_matrix((double[rows_of_pairs], (rows_of_pairs, pairs)), shape, dtype=np.float32)
            rows.append(sparse.hstack([counted, single_part, double_part]).tocsr())
        return sparse.vstack(rows).tocsr()

    def fit(self, hostile: Sentences, harmless: Sentences, ordinary: Sentences, everyday: Sentences) -> Any:
        """Once on a draw of the ordinary sentences, then with those that look most hostile to the one before."""
        from scipy import sparse
        from sklearn.linear_model import LogisticRegression

        given = self.build(Sentences(hostile.words + harmless.words, hostile.masks + harmless.masks))
        many = [self.build(each) for each in (ordinary, everyday) if each.words]
        labels = np.array([1] * len(hostile.words) + [0] * len(harmless.words))
        weights = np.where(labels == 1, 1.0, HARMLESS_WEIGHT)
        generator, fitted = np.random.default_rng(SEED), None
        chosen = [
            generator.permutation(part.shape[0])[:drawn]
            for part, drawn in zip(many, (DRAWN, DRAWN_EVERYDAY), strict=False)
        ]
        for number in range(ROUNDS):
            count = sum(len(each) for each in chosen)
            fitted = LogisticRegression(C=STRENGTH, max_iter=200, solver="liblinear", tol=1e-3, random_state=SEED)
            fitted.fit(
                sparse.vstack([given, *(part[each] for part, each in zip(many, chosen, strict=True))]),
                np.concatenate([labels, np.zeros(count)]),
                sample_weight=np.concatenate([weights, np.full(count, ORDINARY_WEIGHT)]),
            )
            if number < ROUNDS - 1:
                scores = [fitted.decision_function(part) for part in many]
                bound = np.sort(np.concatenate(scores))[-HARDEST:][0]
                chosen = [
                    np.union1d(each, np.flatnonzero(score >= bound)) for each, score in zip(chosen, scores, strict=True)
                ]
        return fitted

    def fit_kinds(self, hostile: Sentences) -> Any:
        from sklearn.linear_model import LogisticRegression

        known = hostile.take([number for number, kind in enumerate(hostile.kinds) if kind in KINDS])
        classes = unpack_classes(known.masks, len(self.class_names))
        inputs = [
            describe_kind(self.table.look_up(words)[:, 2], line)
            for words, line in zip(known.words, classes, strict=True)
        ]
        return LogisticRegression(C=20, max_iter=400).fit(np.array(inputs), known.kinds)

    def pack(self, fitted: Any, kinds: Any, threshold: float) -> dict[str, Any]:
        """What model.npz has: weights as whole numbers of eight bits and their scales."""
        count, weights = len(self.class_names), fitted.coef_[0]
        pairs = weights[BUCKETS + count :].reshape(count, count)
        parts: dict[str, Any] = {
            **self.groups,
            "class_names": _as_bytes(" ".join(self.class_names)),
            "kind_names": _as_bytes(" ".join(kinds.classes_)),
            "kind_bias": kinds.intercept_.astype(np.float32),
            "bias": np.float32(fitted.intercept_[0]),
            "threshold": np.float32(threshold),
        }
        for name, values in (
            ("weights", weights[:BUCKETS]), ("classes", weights[BUCKETS : BUCKETS + count]), ("class_pairs", pairs),
            ("kind_weights", kinds.coef_.T),
        ):  # fmt: skip
            scale = np.abs(values).max() / 127
            parts[name], parts[f"{name}_scale"] = np.rint(values / scale).astype(np.int8), np.float32(scale)
        return parts


def _as_bytes(text: str) -> Any:
    return np.frombuffer(text.encode(), np.uint8)


def report(model: SentenceModel, held: dict[Path, Sentences], passages: list[Passage]) -> None:
    """Found passages and flagged skills by threshold, without the rules."""
    skills = np.array([_highest(model, each) for each in held.values()] or [-np.inf])
    scores = []
    for passage in passages:
        each = Sentences()
        for words, mask in read_sentences(passage.text):
            each.add(words, mask)
        scores.append(_highest(model, each))
    found, hostile = np.array(scores), np.array([each.is_hostile for each in passages])
    print(f"{len(held)} skills and {len(passages)} passages held out")
    for share in (0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1):
        bound = np.quantile(skills, 1 - share)
        hit = found > bound
        print(
            f"threshold {bound:5.2f}: skills {np.mean(skills > bound):6.1%}, hostile {np.mean(hit[hostile]):6.1%}, "
            f"harmless {np.mean(hit[~hostile]):6.1%}"
        )
    for source in sorted({each.source for each in passages}):
        bound = model.threshold
        for label in (True, False):
            part = np.array([each.source == source and each.is_hostile == label for each in passages])
            if part.any():
                print(
                    f"at {bound:.2f}: {source} {'hostile' if label else 'harmless'} {np.mean(found[part] > bound):.1%}"
                )


def _highest(model: SentenceModel, sentences: Sentences) -> float:
    return float(model.score(sentences.words, sentences.masks)[1].max()) if sentences.words else -np.inf


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ordinary", type=Path, nargs="+", required=True)
    parser.add_argument("--everyday", type=Path, nargs="*", default=[])
    parser.add_argument("--held-out", nargs="*", default=[])
    parser.add_argument("--without", default="")
    parser.add_argument("--threshold", type=float, default=-0.5)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--to", type=Path, default=MODEL_FILE)
    arguments = parser.parse_args()
    left_out = set(filter(None, arguments.without.split(",")))
    passages = list(read_passages())
    hostile, harmless = Sentences(), Sentences()
    for passage in passages:
        if passage.source not in left_out and passage.kind not in left_out:
            read_whole(passage, hostile if passage.is_hostile else harmless)
    ordinary, held = read_ordinary(arguments.ordinary, arguments.held_out)
    everyday, _ = read_ordinary(arguments.everyday, arguments.held_out)
    print(
        f"{len(hostile.words)} hostile, {len(harmless.words)} harmless, {len(ordinary.words)} ordinary, "
        f"{len(everyday.words)} everyday",
        flush=True,
    )
    trainer = Trainer()
    fitted = trainer.fit(hostile, harmless, ordinary, everyday)
    parts = trainer.pack(fitted, trainer.fit_kinds(hostile), arguments.threshold)
    target = arguments.to if arguments.write else Path("/dev/null")
    with target.open("wb") as file:
        np.savez_compressed(file, **parts)
    if arguments.write:
        digest = hashlib.sha256(target.read_bytes()).hexdigest()
        target.with_suffix(".sha256").write_text(f"{digest}  {target.name}\n", encoding="utf-8")
    held_passages = [each for each in passages if each.source in left_out or each.kind in left_out]
    if arguments.write and held_passages and held:
        report(load_model(arguments.to), held, held_passages)


if __name__ == "__main__":
    main()
