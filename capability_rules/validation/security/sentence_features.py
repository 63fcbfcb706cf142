# ruff: noqa: RUF001 -- punctuation of other scripts is what is looked for here.
"""What the sentence classifier counts in a sentence: words, groups of like words, and pairs of them that stand close.

A word is known by itself, by its stem, and by two groups of words of similar meaning (200 broad ones, 800 narrow ones),
so that what was learned of "forward the mails" holds for "relay the messages". Each of these, and each pair within a
few words, is hashed to one of `BUCKETS` numbers. All of a text is done at once by numpy: one sentence at a time would
cost ten times as much.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

BUCKETS: Final = 1 << 18
BROAD_GROUPS: Final = 200
NARROW_GROUPS: Final = 800
# Words that have no group are spread over a few of their own.
_STRANGE_BROAD, _STRANGE_NARROW = 16, 64
_WORDS_KEPT = 50_000
Groups = Mapping[str, tuple[int, int]]
Integers = NDArray[np.int64]

PUNCTUATION: Final = str.maketrans(dict.fromkeys('!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~，、：…–—“”«»„।؟()', " "))
# The host in an address says nothing of the order: all addresses of a kind are one word.
_ADDRESS = re.compile(
    r"(?:https?|ftp|s3|git)://[^\s)\]>\"'`]*|\b[\w.+-]{1,40}@[\w-]{1,40}(?:\.[\w-]{1,30}){1,5}"
    r"|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?:/[^\s)\]>\"'`]*)?"
    r"|\b[\w-]{1,40}(?:\.[\w-]{1,40}){0,4}\.(?:invalid|example|test|com|org|net|io|dev|ai|co)\b(?:/[^\s)\]>\"'`]*)?"
)
_SIGN = re.compile(r"[:@.](?=//|[\w-])")
_BLANK = re.compile(r"\s")
_SUFFIX = re.compile(r"(?:ing|edly|ed|es|s|ly|ment|ation|er|ors?|ers)$")
_WITHOUT_BLANKS = "\u2e80"
# (column, tag): what is counted alone. Columns: 0 word, 1 stem, 2 broad group, 3 narrow group.
_SINGLE: Final = ((0, 1), (1, 2), (2, 3), (3, 4))
# (column, nearest, farthest, tag): pairs of two words of a sentence.
_PAIRS: Final = ((1, 1, 1, 100), (1, 2, 4, 110), (3, 1, 4, 130), (2, 1, 5, 150))
_MULTIPLIERS: Final = tuple(
    np.uint64(each) for each in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0xD6E8FEB86659FD93)
)


def hide_addresses(text: str, clean: str) -> str:
    """`clean`, which has the offsets of `text`, with each address of the text replaced by a word for its kind."""
    pieces: list[str] = []
    past = 0
    for start, end in _list_addresses(text):
        kind = _kind_of_address(text[start:end])
        if len(kind) <= end - start:
            pieces += (clean[past:start], kind.ljust(end - start))
            past = end
    return "".join((*pieces, clean[past:])) if pieces else clean


def _list_addresses(text: str) -> Iterator[tuple[int, int]]:
    """Where addresses are. Only words with a sign of one are searched: the pattern is slow, and a text has few."""
    past = 0
    for sign in _SIGN.finditer(text):
        if sign.start() < past:
            continue
        begin = past
        start = max(text.rfind(" ", past, sign.start()), text.rfind("\n", past, sign.start())) + 1
        ending = _BLANK.search(text, sign.end())
        past = ending.start() if ending else len(text)
        for address in _ADDRESS.finditer(text, max(start, begin), past):
            yield address.span()


def _kind_of_address(said: str) -> str:
    return "zurl" if "://" in said else "zmail" if "@" in said else "zip" if said[0].isdigit() else "zhost"


def split_tokens(words: Sequence[str]) -> list[str]:
    """The words; a run of a script without blanks as its pairs of letters."""
    found: list[str] = []
    for word in words:
        if word.isascii() or max(word) < _WITHOUT_BLANKS:
            found.append(word)
        else:
            found += [word[at : at + 2] for at in range(len(word) - 1)] or [word]
    return found


class WordTable:
    """The numbers of each word: itself, its stem, its broad and its narrow group."""

    def __init__(self, groups: Groups) -> None:
        self._groups = groups
        # Words seen before and their rows, as one value: threads replace it, and go on with the one they have.
        self._known: tuple[dict[str, int], Integers] = {}, np.zeros((0, 4), np.int64)

    def look_up(self, words: Sequence[str]) -> Integers:
        """The numbers of these words, one row for each: shape (words, 4)."""
        rows, table = self._known
        new = [word for word in dict.fromkeys(words) if word not in rows]
        if new:
            rows, table = self._extend({} if len(rows) > _WORDS_KEPT else rows, table, new, words)
        return table[np.fromiter(map(rows.__getitem__, words), np.int64, len(words))]

    def _extend(
        self, rows: dict[str, int], table: Integers, new: list[str], words: Sequence[str]
    ) -> tuple[dict[str, int], Integers]:
        if not rows:
            new = list(dict.fromkeys(words))
        more = np.array([self._numbers(word) for word in new], np.int64).reshape(-1, 4)
        table = np.concatenate([table[: len(rows)], more])
        rows = {**rows, **{word: len(rows) + number for number, word in enumerate(new)}}
        self._known = rows, table
        return self._known

    def _numbers(self, word: str) -> tuple[int, int, int, int]:
        said = "0" * min(len(word), 4) if word.isdigit() else word
        stem = (_SUFFIX.sub("", said) if len(said) > 4 else said)[:7] if said.isascii() else said[:5]
        hashed = zlib.crc32(stem.encode("utf-8", "surrogatepass"))
        groups = self._groups.get(said) or self._groups.get(said.rstrip("s").replace("'", ""))
        broad, narrow = groups or (BROAD_GROUPS + hashed % _STRANGE_BROAD, NARROW_GROUPS + hashed % _STRANGE_NARROW)
        return zlib.crc32(said.encode("utf-8", "surrogatepass")), hashed ^ 0x5BD1E995, broad, narrow


def number_sentences(sentences: Sequence[Sequence[str]]) -> Integers:
    """For each word of all sentences in a row, the number of its sentence."""
    return np.repeat(np.arange(len(sentences)), np.array([len(each) for each in sentences], np.int64))


def hash_features(table: Integers, owners: Integers) -> list[tuple[Integers, Integers, int]]:
    """(bucket, index of the first word, distance of the second or 0) per kind of feature, for words in a row."""
    m0, m1, m2, _ = _MULTIPLIERS
    numbers = table.astype(np.uint64)
    everything = np.arange(len(owners))
    found = [(_to_bucket(numbers[:, column] * m0 + _mark(tag)), everything, 0) for column, tag in _SINGLE]
    # The words that begin a pair at each distance: those whose partner is in the same sentence.
    farthest = max(each[2] for each in _PAIRS)
    firsts = [np.flatnonzero(owners[:-far] == owners[far:]) for far in range(1, min(farthest, len(owners) - 1) + 1)]
    for column, nearest, last, tag in _PAIRS:
        before = numbers[:, column] * m0 + _mark(tag)
        before = (before ^ (before >> np.uint64(29))) * m1
        behind = numbers[:, column] * m2
        for distance in range(nearest, min(last, len(firsts)) + 1):
            first = firsts[distance - 1]
            found.append((_to_bucket(before[first] + behind[first + distance]), first, distance))
    return found


def count_features(lengths: Integers) -> Integers:
    """How many features sentences of so many words have."""
    found = lengths * len(_SINGLE)
    for _, nearest, farthest, _ in _PAIRS:
        for distance in range(nearest, farthest + 1):
            found = found + np.maximum(lengths - distance, 0)
    return found


def _mark(tag: int) -> np.uint64:
    return np.uint64(tag * 7919 + 13)


def _to_bucket(mixed: NDArray[Any]) -> Integers:
    mixed = mixed ^ (mixed >> np.uint64(32))
    mixed *= _MULTIPLIERS[3]
    mixed ^= mixed >> np.uint64(32)
    return (mixed & np.uint64(BUCKETS - 1)).astype(np.int64)
