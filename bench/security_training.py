"""Train the classifier of suspicious sentences from the texts in this repository, and measure it; needs scikit-learn.

    python bench/security_training.py [--held-out NAME...] [--threshold 1.8] [--write]

Hostile and harmless passages are those of security_training/ and of security_cases/. Ordinary sentences are those of
security_training/ordinary/ (its README.md has sources and licenses) and of this project's pages; they count as
harmless. Passages of the files that `--held-out` names are not trained on, but measured. `--write` stores model.npz and
its hash.
Everything drawn has a fixed seed.

The passages are data. Nothing in them is followed.
"""

from __future__ import annotations

import argparse
import hashlib
import lzma
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from security_cases import FOLDER as CASES
from security_cases import read_cases

from capability_rules.validation.security.normalization import build_plain_view, unwrap_lines
from capability_rules.validation.security.sentence_features import BUCKETS, WordTable, hash_features, number_sentences
from capability_rules.validation.security.suspicion import (
    KINDS,
    MODEL_FILE,
    SentenceModel,
    describe_kind,
    load_model,
    read_for_model,
    scale_buckets,
)

ROOT = Path(__file__).resolve().parent.parent
PASSAGES = ROOT / "bench" / "security_training"
ORDINARY = PASSAGES / "ordinary"
# Texts of this project that say nothing of attacks.
OUR_TEXTS = ("examples/*/skill.md", "docs/*.md", "docs/adr/*.md", "schemas/*.md")
GROUPS_FILE = PASSAGES / "word_groups.npz"
SEED = 7
# How often harmless passages and ordinary sentences count, against once for each hostile passage.
HARMLESS_WEIGHT, ORDINARY_WEIGHT, STRENGTH = 1.5, 0.5, 30.0
DRAWN, HARDEST = 93_000, 50_000
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


def read_sentences(text: str) -> list[list[str]]:
    """The words of each sentence, as the product reads them."""
    return read_for_model(unwrap_lines(build_plain_view(text)).text).words


def read_whole(passage: Passage) -> list[str]:
    """A passage as one sentence: which of its sentences is the hostile one, nobody wrote down."""
    return [word for words in read_sentences(passage.text) for word in words]


def read_ordinary() -> list[list[str]]:
    """The different sentences of the ordinary texts."""
    found: dict[str, list[str]] = {}
    texts = [lzma.decompress(path.read_bytes()).decode("utf-8") for path in sorted(ORDINARY.glob("*.txt.xz"))]
    texts += [path.read_text(encoding="utf-8") for pattern in OUR_TEXTS for path in sorted(ROOT.glob(pattern))]
    for text in texts:
        for words in read_sentences(text):
            found.setdefault(" ".join(words), words)
    return list(found.values())


class Trainer:
    """Builds the inputs and fits the two layers: hostile or not, and of what kind."""

    def __init__(self) -> None:
        with np.load(GROUPS_FILE, allow_pickle=False) as file:
            self.groups = {name: file[name] for name in file.files}
        words = bytes(self.groups["words"]).decode().split("\n")
        pairs = zip(self.groups["broad"].tolist(), self.groups["narrow"].tolist(), strict=True)
        self.table = WordTable(dict(zip(words, pairs, strict=True)))

    def build(self, sentences: Sequence[list[str]]) -> Any:
        """One row of buckets per sentence."""
        from scipy import sparse

        rows = []
        for low in range(0, len(sentences), 20_000):
            words = sentences[low : low + 20_000]
            owners = number_sentences(words)
            hashed = hash_features(self.table.look_up([word for each in words for word in each]), owners)
            at = np.concatenate([owners[first] for _, first, _ in hashed])
            buckets = np.concatenate([bucket for bucket, _, _ in hashed])
            scale = scale_buckets(np.bincount(at, minlength=len(words)))
            rows.append(sparse.csr_matrix((scale[at], (at, buckets)), shape=(len(words), BUCKETS), dtype=np.float32))
        return sparse.vstack(rows).tocsr()

    def fit(self, hostile: list[list[str]], harmless: list[list[str]], ordinary: list[list[str]]) -> Any:
        """Once on a draw of the ordinary sentences, then with those that look most hostile to the one before."""
        from scipy import sparse
        from sklearn.linear_model import LogisticRegression

        given, many = self.build([*hostile, *harmless]), self.build(ordinary)
        labels = np.array([1] * len(hostile) + [0] * len(harmless))
        weights = np.where(labels == 1, 1.0, HARMLESS_WEIGHT)
        chosen, fitted = np.random.default_rng(SEED).permutation(many.shape[0])[:DRAWN], None
        for _ in range(2):
            if fitted is not None:
                hardest = np.argsort(fitted.decision_function(many))[-HARDEST:]
                chosen = np.union1d(chosen, hardest)
            fitted = LogisticRegression(C=STRENGTH, max_iter=200, solver="liblinear", tol=1e-3, random_state=SEED)
            fitted.fit(
                sparse.vstack([given, many[chosen]]),
                np.concatenate([labels, np.zeros(len(chosen))]),
                sample_weight=np.concatenate([weights, np.full(len(chosen), ORDINARY_WEIGHT)]),
            )
        return fitted

    def fit_kinds(self, hostile: list[list[str]], kinds: list[str]) -> Any:
        from sklearn.linear_model import LogisticRegression

        known = [(words, kind) for words, kind in zip(hostile, kinds, strict=True) if kind in KINDS]
        inputs = [describe_kind(self.table.look_up(words)[:, 2]) for words, _ in known]
        return LogisticRegression(C=20, max_iter=400).fit(np.array(inputs), [kind for _, kind in known])

    def pack(self, fitted: Any, kinds: Any, threshold: float) -> dict[str, Any]:
        """What model.npz has: weights as whole numbers of eight bits and their scales."""
        parts: dict[str, Any] = {
            **self.groups,
            "kind_names": np.frombuffer(" ".join(kinds.classes_).encode(), np.uint8),
            "kind_bias": kinds.intercept_.astype(np.float32),
            "bias": np.float32(fitted.intercept_[0]),
            "threshold": np.float32(threshold),
        }
        for name, values in (("weights", fitted.coef_[0]), ("kind_weights", kinds.coef_.T)):
            scale = np.abs(values).max() / 127
            parts[name], parts[f"{name}_scale"] = np.rint(values / scale).astype(np.int8), np.float32(scale)
        return parts


def report(model: SentenceModel, passages: list[Passage]) -> None:
    """How many passages of each file that was held out are found."""
    for source in sorted({each.source for each in passages}):
        scores = [_highest(model, read_sentences(each.text)) for each in passages if each.source == source]
        print(f"at {model.threshold:.2f}: {source} {np.mean(np.array(scores) > model.threshold):.1%} of {len(scores)}")


def _highest(model: SentenceModel, sentences: list[list[str]]) -> float:
    return float(model.score(sentences)[1].max()) if sentences else -np.inf


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--held-out", nargs="*", default=[])
    parser.add_argument("--threshold", type=float, default=1.8)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--to", type=Path, default=MODEL_FILE)
    arguments = parser.parse_args()
    passages = list(read_passages())
    kept = [(each, words) for each in passages if each.source not in arguments.held_out and (words := read_whole(each))]
    hostile = [words for each, words in kept if each.is_hostile]
    harmless = [words for each, words in kept if not each.is_hostile]
    ordinary = read_ordinary()
    print(f"{len(hostile)} hostile, {len(harmless)} harmless, {len(ordinary)} ordinary", flush=True)
    trainer = Trainer()
    kinds = trainer.fit_kinds(hostile, [each.kind for each, _ in kept if each.is_hostile])
    parts = trainer.pack(trainer.fit(hostile, harmless, ordinary), kinds, arguments.threshold)
    target = arguments.to if arguments.write else Path("/dev/null")
    with target.open("wb") as file:
        np.savez_compressed(file, **parts)
    if arguments.write:
        digest = hashlib.sha256(target.read_bytes()).hexdigest()
        target.with_suffix(".sha256").write_text(f"{digest}  {target.name}\n", encoding="utf-8")
        report(load_model(arguments.to), [each for each in passages if each.source in arguments.held_out])


if __name__ == "__main__":
    main()
