"""Sentences that resemble orders against the user, by a classifier that was trained on such sentences.

The rules find what they were written for; this finds wordings near those of its training texts. A hit is a warning that
names the words that weighed most. bench/security_training.py makes model.npz from bench/security_training/ and folders
of ordinary skills; nothing but numpy is needed to apply it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from registry.validation.security.engine import HITS_COUNTED_MAX, RuleHit
from registry.validation.security.sentence_features import (
    BROAD_GROUPS,
    Integers,
    WordTable,
    count_features,
    hash_features,
    hide_addresses,
    number_sentences,
    split_tokens,
    unpack_classes,
)
from registry.validation.security.sentence_rules import load_word_index
from registry.validation.security.sentences import SentenceText

MODEL_FILE: Final = Path(__file__).parent / "model.npz"
CODE: Final = "SEC_SUSPICIOUS_INSTRUCTION"
# A heading or a cell of one or two different words is not a sentence.
WORDS_MIN: Final = 3
# Of very long sentences the first words are read.
WORDS_MAX: Final = 120
# So many sentences are judged together.
READ_TOGETHER: Final = 3
# What keeps long sentences from outweighing short ones; training and use must agree.
_DAMPING, _CLASS_SHARE, _CLASS_DAMPING = 8.0, 0.7, 4.0
# What pairs of classes may add at most, and hardly ever do in an ordinary text.
_PAIRS_MOST: Final = 4.0
_SURE: Final = 0.5
# An author with so many of them in one text needs no reason for each, and working it out takes most of the time.
_EXPLAINED_MAX: Final = 100
_WORDS_NAMED: Final = 3
# A line that is indented or quoted as the one before, and the most such lines that are quoted with a sentence.
_GOES_ON: Final = re.compile(r"(?:[ \t]{2,}|[ \t]*>[ \t]*)[^\W\d_]")
_LINES_BEFORE: Final = 3
Floats = NDArray[np.float32]
# Words that weigh much beside others and tell a reader nothing.
_SMALL_WORDS: Final = re.compile(
    r"(?:a|an|and|are|as|at|be|been|by|for|from|has|have|if|in|into|is|it|its|of|on|one|or|so|such|than|that|the|their|them|then"
    r"|there|these|they|this|those|to|was|what|when|which|will|with|you|your)"
)
_ADDRESS_NAMES: Final = {"zurl": "a URL", "zmail": "an e-mail address", "zip": "an IP address", "zhost": "a host"}
# How an attack of each kind is called in a message.
KINDS: Final = {
    "persistence": "a change that outlives the session",
    "remote_instructions": "instructions from elsewhere",
    "claims_every_request": "a claim on every request",
    "false_authority": "a claim of authority",
    "approval_bypass": "acting without consent",
    "splitting": "staying below a limit",
    "exfiltration": "data sent away",
    "credential_request": "secrets asked for",
    "payee_replaced": "another payee",
    "destruction": "data destroyed",
    "safeguards_off": "safeguards switched off",
    "concealment": "a step hidden from the user",
    "packages": "a program from an unknown source",
    "tool_steering": "interfering with other tools",
    "memory_poisoning": "false facts put into memory",
    "opinion": "an opinion slipped in",
    "sabotage": "results made wrong",
    "cost_loop": "work without an end",
    "conditional": "a hidden condition",
    "role_tag": "words of another role",
    "prompt_leak": "its own instructions given away",
    "override": "other instructions set aside",
    "user_harm": "harm to the user",
}


@dataclass(frozen=True)
class SentenceModel:
    """`weights` per bucket; `classes` per class of words and `class_pairs` per two of them; `kinds` names attacks.

    `order` leads from the classes as word_classes.toml has them now to those that the model was trained with.
    """

    table: WordTable
    weights: Floats
    classes: Floats
    class_pairs: Floats
    bias: float
    threshold: float
    kind_names: tuple[str, ...]
    kind_weights: Floats
    kind_bias: Floats
    order: Integers

    def score(
        self, sentences: Sequence[Sequence[str]], masks: Sequence[int], strings: Sequence[int] = ()
    ) -> tuple[Floats, Floats]:
        """How much each sentence resembles an attack, and the stretch of three that it begins.

        An order and that nobody shall know of it often stand in two sentences, so each stretch is read as one sentence,
        and so are each two within it: its score is the sum of the three, each the highest of its length. A string of
        one or two sentences is one stretch, and none goes on in the next of `strings`. Where no stretch begins, its
        score is -inf. Above `threshold` it is a finding. Words come from `split_tokens`.
        """
        if not any(sentences):
            return np.full(len(sentences), -np.inf, np.float32), np.full(len(sentences), -np.inf, np.float32)
        string = np.array(strings or [0] * len(sentences), np.int64)
        lengths = np.array([len(words) for words in sentences], np.int64)
        parts = (self._add_up_words(sentences, lengths), count_features(lengths), self.read_classes(masks))
        levels = [parts]
        for by in range(1, READ_TOGETHER):
            total, count, classes = (_shift(values, by, string, 0) for values in parts)
            levels.append((levels[-1][0] + total, levels[-1][1] + count, np.maximum(levels[-1][2], classes)))
        one, two, three = (self._join(*level) for level in levels)
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

    def _join(self, total: NDArray[np.float64], count: Integers, classes: Floats) -> Floats:
        """The scores from the sums over words, and the classes of words."""
        single, double = scale_classes(classes)
        # Not a product of matrices: numpy would start threads for it, which cost more than they save.
        alone = np.einsum("ij,j->i", classes, self.classes) * single
        found: Floats = (total * scale_buckets(count) + alone + self.bias).astype(np.float32)
        # Pairs of classes cost most and add so much at most: only where that could make a finding.
        near = np.flatnonzero(found > self.threshold / READ_TOGETHER - _PAIRS_MOST)
        for number in near.tolist():
            here = classes[number].nonzero()[0]
            pairs = self.class_pairs[here[:, None], here].sum() * double[number]
            found[number] += min(pairs, _PAIRS_MOST)
        return found

    def read_classes(self, masks: Sequence[int]) -> Floats:
        """The classes of words of each sentence, as the model numbers them."""
        found: Floats = unpack_classes(masks, len(load_word_index().bits))[:, self.order]
        return found

    def weigh_words(self, words: Sequence[str]) -> Floats:
        """What each word of one sentence adds to its score; of a pair, half to each of the two."""
        found = np.zeros(len(words))
        owners = np.zeros(len(words), np.int64)
        for bucket, first, distance in hash_features(self.table.look_up(words), owners):
            if distance:
                half = self.weights[bucket] / 2
                found += np.bincount(first, half, len(words)) + np.bincount(first + distance, half, len(words))
            else:
                found += self.weights[bucket]
        return found.astype(np.float32)

    def name_kind(self, words: Sequence[str], mask: int) -> str:
        """The kind of attack that a sentence resembles most, "" where several are as likely."""
        inputs = describe_kind(self.table.look_up(words)[:, 2], self.read_classes([mask])[0])
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


def scale_classes(classes: Floats) -> tuple[Floats, Floats]:
    """By what single classes and pairs of them are multiplied in each sentence."""
    count = classes.sum(axis=1)
    pairs = count * (count - 1) / 2
    return _CLASS_SHARE / np.sqrt(count + _CLASS_DAMPING), _CLASS_SHARE / np.sqrt(pairs + _DAMPING)


def scale_buckets(count: NDArray[Any]) -> NDArray[Any]:
    """By what the features of a sentence with so many of them are multiplied."""
    return 1 / np.sqrt(count + _DAMPING)


def describe_kind(broad: Integers, classes: Floats) -> Floats:
    """The inputs of the layer that names the kind of an attack: broad groups of words, and classes."""
    groups = (np.bincount(broad, minlength=BROAD_GROUPS + 16) > 0).astype(np.float32)
    return np.concatenate([groups / np.sqrt(groups.sum() + 1), classes / np.sqrt(classes.sum() + 1)])


@cache
def load_model(path: Path = MODEL_FILE) -> SentenceModel:
    """The trained model. Raises OSError or ValueError where the file is missing or broken."""
    with np.load(path, allow_pickle=False) as file:
        parts = {name: file[name] for name in file.files}
    words = bytes(parts["words"]).decode().split("\n")
    pairs = zip(parts["broad"].tolist(), parts["narrow"].tolist(), strict=True)
    bits = list(load_word_index().bits)
    trained = bytes(parts["class_names"]).decode().split(" ")
    return SentenceModel(
        table=WordTable(dict(zip(words, pairs, strict=True))),
        weights=_scaled(parts, "weights"),
        classes=_scaled(parts, "classes"),
        class_pairs=_scaled(parts, "class_pairs"),
        bias=float(parts["bias"]),
        threshold=float(parts["threshold"]),
        kind_names=tuple(bytes(parts["kind_names"]).decode().split(" ")),
        kind_weights=_scaled(parts, "kind_weights"),
        kind_bias=parts["kind_bias"].astype(np.float32),
        order=np.array([bits.index(name) for name in trained], np.int64),
    )


def _scaled(parts: dict[str, NDArray[Any]], name: str) -> Floats:
    found: Floats = parts[name].astype(np.float32) * np.float32(parts[f"{name}_scale"])
    return found


@dataclass(frozen=True, slots=True)
class Reading:
    """The sentences of a text that are long enough, as the model reads them: their words, classes and places.

    `strings` has the number of the string that each is of.
    """

    words: list[list[str]]
    masks: list[int]
    places: list[tuple[int, int]]
    strings: list[int]


def read_for_model(text: SentenceText) -> Reading:
    """The sentences of a text, addresses hidden, each cut at 120 words."""
    clean = hide_addresses(text.text, text.clean)
    found = Reading([], [], [], [])
    string = past = 0
    for each in text.sentences:
        string, past = string + text.text.count("\0", past, each.start), each.start
        said = clean[each.start : each.end]
        words = said.split() if said.isascii() else split_tokens(said.split())
        if len(set(words)) >= WORDS_MIN:
            found.words.append(words[:WORDS_MAX])
            found.masks.append(each.mask)
            found.places.append((each.start, each.end))
            found.strings.append(string)
    return found


def find_suspicious_sentences(text: SentenceText) -> Iterator[RuleHit]:
    """Every sentence that the model takes for an order against the user, by itself or with those next to it."""
    reading = read_for_model(text)
    if not reading.words:
        return
    model, view = load_model(), text.view
    for count, number in enumerate(list_suspicious(model, reading)[:HITS_COUNTED_MAX]):
        words, mask = reading.words[number], reading.masks[number]
        telling = _list_telling(model, words) if count < _EXPLAINED_MAX else []
        stretch = _narrow(text.text, reading.places[number], [words[at] for at in telling])
        first, last = view.span_of(*stretch)
        kind = model.name_kind(words, mask) if count < _EXPLAINED_MAX else ""
        says = _describe(kind, [words[at] for at in telling])
        shown = view.span_of(*_add_lines_before(text.text, reading.places[number]))
        yield RuleHit(
            CODE, says, first, last, None, "phrase", view.disguise, is_general=True, is_scored=True, shown=shown
        )


def _add_lines_before(text: str, place: tuple[int, int]) -> tuple[int, int]:
    """The place of a sentence with the lines that an indented first line goes on from, such as those of a list item."""
    start, end = place
    for _ in range(_LINES_BEFORE):
        if start < 2 or text[start - 1] != "\n" or text[start - 2] in "\n\0" or not _GOES_ON.match(text, start):
            break
        start = max(text.rfind(end_before, 0, start - 1) for end_before in ("\n", "\0", ". ")) + 1
    return start, end


def list_suspicious(model: SentenceModel, reading: Reading) -> list[int]:
    """The numbers of the sentences to name: of each stretch above the threshold, the one with the highest score."""
    alone, stretches = model.score(reading.words, reading.masks, reading.strings)
    ends = np.searchsorted(reading.strings, reading.strings, side="right")
    return sorted(
        {
            at + int(alone[at : min(at + READ_TOGETHER, ends[at])].argmax())
            for at in np.flatnonzero(stretches > model.threshold).tolist()
        }
    )


def _list_telling(model: SentenceModel, words: list[str]) -> list[int]:
    """The places of the few words that weigh most, in their order."""
    weights = model.weigh_words(words)
    telling = [at for at in np.argsort(-weights).tolist() if weights[at] > 0 and _is_telling(words[at])]
    return sorted(telling[:_WORDS_NAMED])


def _narrow(text: str, place: tuple[int, int], words: list[str]) -> tuple[int, int]:
    """The stretch of a sentence from the first to the last of its telling words.

    What the rest says, that this is an example of an attack for instance, is then read as its surroundings.
    """
    spans = [(at, at + len(word)) for word in words if (at := text.find(word, *place)) >= 0]
    if not spans:
        return place
    return min(start for start, _ in spans), max(end for _, end in spans)


def _is_telling(word: str) -> bool:
    return not _SMALL_WORDS.fullmatch(word) and (len(word) > 1 or not word.isascii())


def _describe(kind: str, words: list[str]) -> str:
    named = ", ".join(dict.fromkeys(_ADDRESS_NAMES.get(word, word) for word in words))
    order = KINDS.get(kind, "an act against the user")
    return f"a sentence that resembles orders for {order}" + (f" (what weighed most: {named})" if named else "")
