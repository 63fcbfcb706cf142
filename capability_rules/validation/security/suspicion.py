"""Sentences that resemble orders against the user, by a classifier that was trained on such sentences.

A hit is a note for reviewers; scanner.py makes it a doubt where something else speaks for it.
bench/security_training.py makes model.npz from bench/security_training/;
nothing but numpy is needed to apply it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import log2
from pathlib import Path, PurePosixPath
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from capability_rules.bundles.problem import BUNDLE_FILES, UNJUDGED_CODE
from capability_rules.validation.security.engine import HITS_COUNTED_MAX, RuleHit
from capability_rules.validation.security.languages import ENGLISH, list_languages
from capability_rules.validation.security.normalization import TextView
from capability_rules.validation.security.sentence_features import (
    BROAD_GROUPS,
    PUNCTUATION,
    Integers,
    WordTable,
    count_features,
    hash_features,
    hide_addresses,
    number_sentences,
    split_tokens,
)
from capability_rules.validation.security.sentences import Span, split_sentences

MODEL_FILE: Final = Path(__file__).parent / "model.npz"
CODE: Final = "SEC_SUSPICIOUS_INSTRUCTION"
# A heading or a cell of one or two different words is not a sentence.
WORDS_MIN: Final = 3
# Of very long sentences the first words are read.
WORDS_MAX: Final = 120
# So many sentences are judged together.
READ_TOGETHER: Final = 3
# What keeps long sentences from outweighing short ones; training and use must agree.
_DAMPING: Final = 8.0
_SURE: Final = 0.6
# Above the threshold: in supporting files, and each time that a text has twice the usual number of sentences.
_MARGIN_BESIDE: Final = 8.2
_MARGIN_PER_DOUBLING: Final = 0.8
_USUAL: Final = 40
_PROSE: Final = frozenset({".md", ".mdx", ".markdown", ".txt", ".rst", ".adoc"})
_LICENSES: Final = frozenset({"LICENSE", "LICENCE", "COPYING", "NOTICE"})
# Of the hostile training texts nearly all are English: elsewhere it cannot tell an order from a table of prices.
_JUDGED: Final = frozenset({ENGLISH})
# One name, or the lines of an example, are not a text in another language.
_UNJUDGED_MIN: Final = 2
_UNJUDGED_SHARE: Final = 0.1
# An author with so many of them in one text needs no kind for each.
_NAMED_MAX: Final = 100
Floats = NDArray[np.float32]
# For each kind of order in the training texts: the code of its findings, and what such a sentence may be read as.
KINDS: Final = {
    "persistence": ("SEC_PERSISTENCE", "an order to leave something behind that outlives the session"),
    "remote_instructions": ("SEC_REMOTE_INSTRUCTIONS", "an order to follow instructions from elsewhere"),
    "claims_every_request": ("SEC_TOOL_STEERING", "a claim on requests that are not meant for this capability"),
    "false_authority": ("SEC_FALSE_AUTHORITY", "a claim to speak for somebody whom the agent must obey"),
    "approval_bypass": ("SEC_APPROVAL_BYPASS", "an order to act without the consent that is needed"),
    "splitting": ("SEC_APPROVAL_BYPASS", "an order to stay below a limit that somebody set"),
    "exfiltration": ("SEC_EXFILTRATION", "an order to give data to somebody whom the user did not choose"),
    "credential_request": ("SEC_CREDENTIAL_REQUEST", "an order to ask for a secret"),
    "payee_replaced": ("SEC_PAYMENT_REDIRECT", "an order to pay or send to somebody else"),
    "destruction": ("SEC_DESTRUCTIVE_COMMAND", "an order to destroy data"),
    "safeguards_off": ("SEC_PROTECTION_OFF", "an order to switch a safeguard off"),
    "concealment": ("SEC_USER_DECEPTION", "an order to hide something from the user"),
    "packages": ("SEC_UNTRUSTED_PACKAGE", "an order to install a program from an unknown source"),
    "tool_steering": ("SEC_TOOL_STEERING", "an order to keep the agent from other tools"),
    "memory_poisoning": ("SEC_PERSISTENCE", "an order to remember what the user did not say"),
    "opinion": (CODE, "an opinion to be slipped into answers"),
    "sabotage": (CODE, "an order to make results wrong"),
    "cost_loop": ("SEC_ENDLESS_LOOP", "an order to work without an end"),
    "conditional": (CODE, "a hidden condition"),
    "role_tag": (CODE, "words put into the mouth of the system or the user"),
    "prompt_leak": ("SEC_PROMPT_LEAK", "an order to give away the agent's own instructions"),
    "override": ("SEC_INSTRUCTION_OVERRIDE", "an order to set other instructions aside"),
    "user_harm": (CODE, "an order that harms the user"),
}
_UNKNOWN_KIND: Final = (CODE, "an order against the user")


@dataclass(frozen=True)
class SentenceModel:
    """`weights` per bucket of features; `kinds` names attacks."""

    table: WordTable
    weights: Floats
    bias: float
    threshold: float
    kind_names: tuple[str, ...]
    kind_weights: Floats
    kind_bias: Floats

    def score(self, sentences: Sequence[Sequence[str]], strings: Sequence[int] = ()) -> tuple[Floats, Floats]:
        """How much each sentence resembles an attack, and how much the stretch of three sentences that it begins does.

        Both have one score per sentence; the words of a sentence are those of `split_tokens`. An attack often has its
        order in one sentence and "tell nobody" in the next, so a stretch's score is a sum: of the stretch read as one
        sentence, of its highest pair of neighbors read as one, and of its highest sentence. `strings` numbers the
        text that each sentence is from: a stretch does not reach into the next text, and a text of fewer than three
        sentences is one stretch. Where no stretch begins, its score is -inf. Above `threshold` it is a finding.
        """
        if not any(sentences):
            return np.full(len(sentences), -np.inf, np.float32), np.full(len(sentences), -np.inf, np.float32)
        string = np.array(strings or [0] * len(sentences), np.int64)
        lengths = np.array([len(words) for words in sentences], np.int64)
        levels = [(self._add_up_words(sentences, lengths), count_features(lengths))]
        total, count = levels[0]
        for by in range(1, READ_TOGETHER):
            levels.append((levels[-1][0] + _shift(total, by, string, 0), levels[-1][1] + _shift(count, by, string, 0)))
        one, two, three = ((each * scale_buckets(features) + self.bias).astype(np.float32) for each, features in levels)
        is_whole = _shift(np.ones(len(string), bool), READ_TOGETHER - 1, string, 0)
        begins = np.diff(string, prepend=-1) != 0
        pairs = np.maximum(two, np.where(is_whole, _shift(two, 1, string, -np.inf), -np.inf))
        highest = np.maximum(one, np.maximum(_shift(one, 1, string, -np.inf), _shift(one, 2, string, -np.inf)))
        return one, np.where(is_whole | begins, three + pairs + highest, np.float32(-np.inf)).astype(np.float32)

    def _add_up_words(self, sentences: Sequence[Sequence[str]], lengths: Integers) -> NDArray[np.float64]:
        """The sum of the weights of each sentence's words and pairs of words."""
        owners = number_sentences(sentences)
        each = np.zeros(len(owners))
        table = self.table.look_up([word for words in sentences for word in words])
        for bucket, first, distance in hash_features(table, owners):
            if distance:
                each[first] += self.weights[bucket]
            else:
                each += self.weights[bucket]
        found: NDArray[np.float64] = np.bincount(owners, each, len(lengths)).astype(np.float64)
        return found

    def name_kind(self, words: Sequence[str]) -> str:
        """The kind of attack that a sentence resembles most, "" where several are as likely."""
        inputs = describe_kind(self.table.look_up(words)[:, 2])
        raised = inputs @ self.kind_weights + self.kind_bias
        likely = np.exp(raised - raised.max())
        best = int(likely.argmax())
        return self.kind_names[best] if likely[best] / likely.sum() >= _SURE else ""


def _shift(values: NDArray[Any], by: int, string: Integers, otherwise: float) -> NDArray[Any]:
    """For each sentence what the one `by` places behind it has, where both are of one string."""
    found = np.full_like(values, otherwise)
    if by < len(values):
        is_same = string[:-by] == string[by:]
        found[:-by][is_same] = values[by:][is_same]
    return found


def scale_buckets(count: NDArray[Any]) -> NDArray[Any]:
    """By what the features of a sentence with so many of them are multiplied."""
    return 1 / np.sqrt(count + _DAMPING)


def describe_kind(broad: Integers) -> Floats:
    """The inputs of the layer that names the kind of an attack: the broad groups of its words."""
    groups = (np.bincount(broad, minlength=BROAD_GROUPS + 16) > 0).astype(np.float32)
    found: Floats = groups / np.sqrt(groups.sum() + 1)
    return found


@cache
def load_model(path: Path = MODEL_FILE) -> SentenceModel:
    """The trained model. Raises OSError or ValueError where the file is missing or broken."""
    with np.load(path, allow_pickle=False) as file:
        parts = {name: file[name] for name in file.files}
    words = bytes(parts["words"]).decode().split("\n")
    pairs = zip(parts["broad"].tolist(), parts["narrow"].tolist(), strict=True)
    return SentenceModel(
        table=WordTable(dict(zip(words, pairs, strict=True))),
        weights=_scaled(parts, "weights"),
        bias=float(parts["bias"]),
        threshold=float(parts["threshold"]),
        kind_names=tuple(bytes(parts["kind_names"]).decode().split(" ")),
        kind_weights=_scaled(parts, "kind_weights"),
        kind_bias=parts["kind_bias"].astype(np.float32),
    )


def _scaled(parts: dict[str, NDArray[Any]], name: str) -> Floats:
    found: Floats = parts[name].astype(np.float32) * np.float32(parts[f"{name}_scale"])
    return found


@dataclass(frozen=True, slots=True)
class Reading:
    """The sentences of a text that are long enough, as the model reads them: their words and places.

    `strings` has the number of the string that each is of.
    """

    words: list[list[str]]
    places: list[Span]
    strings: list[int]


def read_for_model(text: str) -> Reading:
    """The sentences of a folded text whose lines are unwrapped, addresses hidden, each cut at 120 words."""
    clean = hide_addresses(text, text.translate(PUNCTUATION))
    found = Reading([], [], [])
    string = past = 0
    for start, end in split_sentences(text):
        string, past = string + text.count("\0", past, start), start
        said = clean[start:end]
        words = said.split() if said.isascii() else split_tokens(said.split())
        if len(set(words)) >= WORDS_MIN:
            found.words.append(words[:WORDS_MAX])
            found.places.append((start, end))
            found.strings.append(string)
    return found


def is_read(file: str) -> bool:
    """Whether the model reads a file: code, data and licenses are not the prose that it was trained on."""
    name = PurePosixPath(file)
    is_prose = name.suffix.lower() in _PROSE and name.stem.upper() not in _LICENSES
    # A path is read without its file.
    return not file or file in BUNDLE_FILES or is_prose


def get_margin(file: str, sentences: int) -> float:
    """How far above the threshold a sentence has to be, in a file with so many of them.

    Each sentence is another chance of a false alarm, and a skill may have twenty times as much text in references,
    which an agent reads when it asks for them.
    """
    if file and file not in BUNDLE_FILES:
        return _MARGIN_BESIDE
    return min(_MARGIN_BESIDE, _MARGIN_PER_DOUBLING * log2(max(1.0, sentences / _USUAL)))


def find_suspicious_sentences(view: TextView, file: str, *, is_followed: bool = False) -> Iterator[RuleHit]:
    """Every sentence of a file that the model takes for an order against the user, by itself or with those next to it,
    in a language of the training texts; and a note that names each other language."""
    if not is_read(file) and not is_followed:
        return
    whole = read_for_model(view.text)
    if not whole.words:
        return
    languages = list_languages(whole.words)
    yield from _name_unjudged(view, whole, languages)
    reading = _keep(whole, [language in _JUDGED for language in languages])
    model, margin = load_model(), get_margin(file if is_read(file) else "", len(reading.words))
    for count, (number, certainty) in enumerate(list_suspicious(model, reading, margin)[:HITS_COUNTED_MAX]):
        kind = model.name_kind(reading.words[number]) if count < _NAMED_MAX else ""
        code, says = KINDS.get(kind, _UNKNOWN_KIND)
        first, last = view.span_of(*reading.places[number])
        yield RuleHit(code, says, first, last, discount="phrase", disguise=view.disguise, certainty=certainty)


def _name_unjudged(view: TextView, reading: Reading, languages: Sequence[str]) -> Iterator[RuleHit]:
    """A note for each language of a text, not of a disguise, that is not judged."""
    for language, count in Counter(languages).items():
        is_text = count >= max(_UNJUDGED_MIN, _UNJUDGED_SHARE * len(languages))
        if is_text and language not in _JUDGED and not view.disguise:
            first, last = view.span_of(*reading.places[languages.index(language)])
            yield RuleHit(UNJUDGED_CODE, language, first, last, "note", subject=language)


def _keep(reading: Reading, kept: Sequence[bool]) -> Reading:
    rows = [at for at, is_kept in enumerate(kept) if is_kept]
    places, strings = [reading.places[at] for at in rows], [reading.strings[at] for at in rows]
    return Reading([reading.words[at] for at in rows], places, strings)


def list_suspicious(model: SentenceModel, reading: Reading, margin: float = 0.0) -> list[tuple[int, float]]:
    """The numbers of the sentences to name, each with how far its stretch is above the threshold: of each stretch that
    is above it, the sentence with the highest score."""
    alone, stretches = model.score(reading.words, reading.strings)
    ends = np.searchsorted(reading.strings, reading.strings, side="right")
    found: dict[int, float] = {}
    for at in np.flatnonzero(stretches > model.threshold + margin).tolist():
        number = at + int(alone[at : min(at + READ_TOGETHER, ends[at])].argmax())
        found[number] = max(found.get(number, 0.0), float(stretches[at]) - model.threshold - margin)
    return sorted(found.items())
