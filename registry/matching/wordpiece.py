"""The WordPiece tokens of a text, as BERT's uncased models were trained on.

The vocabulary is that of bert-base-uncased (data/README.md has source and license). Follows Devlin et al. 2018 and its
reference tokenizer: clean, split at white space, punctuation and CJK characters, lower case without accents, then the
longest known piece first.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from pathlib import Path
from typing import Final

VOCABULARY: Final = Path(__file__).parent / "data" / "wordpiece-vocab.txt"
TOKENS_MAX: Final = 256
_WORD_LENGTH_MAX: Final = 100
_CJK: Final = ((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2CEAF), (0xF900, 0xFAFF))
# A token has at least one character: what comes after this cannot be among the first ones.
_CHARACTERS_MAX: Final = 4000


@lru_cache(maxsize=1)
def load_vocabulary() -> dict[str, int]:
    """The vocabulary of MiniLM, as `{piece: id}`."""
    return {piece: number for number, piece in enumerate(VOCABULARY.read_text("utf-8").split("\n")) if piece}


def tokenize(text: str) -> list[int]:
    """`[CLS]`, at most `TOKENS_MAX` - 2 pieces, `[SEP]`."""
    known = load_vocabulary()
    found: list[int] = []
    for word in _split_words(text[:_CHARACTERS_MAX]):
        found.extend(_pieces(word))
        if len(found) >= TOKENS_MAX - 2:
            break
    return [known["[CLS]"], *found[: TOKENS_MAX - 2], known["[SEP]"]]


def _split_words(text: str) -> list[str]:
    """Words and single marks, in lower case, without accents."""
    spaced = []
    for character in unicodedata.normalize("NFD", text.lower()):
        category = unicodedata.category(character)
        if category == "Mn" or (category in ("Cc", "Cf", "Co", "Cn", "Cs") and not character.isspace()):
            continue
        spaced.append(f" {character} " if _stands_alone(character, category) else character)
    return "".join(spaced).split()


def _stands_alone(character: str, category: str) -> bool:
    code = ord(character)
    # BERT takes every ASCII mark for punctuation, whatever Unicode calls it.
    if category.startswith("P") or 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126:
        return True
    return any(first <= code <= last for first, last in _CJK)


@lru_cache(maxsize=20_000)
def _pieces(word: str) -> tuple[int, ...]:
    known = load_vocabulary()
    unknown = (known["[UNK]"],)
    if len(word) > _WORD_LENGTH_MAX:
        return unknown
    found: list[int] = []
    start = 0
    while start < len(word):
        prefix = "##" if start else ""
        ends = range(len(word), start, -1)
        end = next((end for end in ends if prefix + word[start:end] in known), None)
        if end is None:
            return unknown
        found.append(known[prefix + word[start:end]])
        start = end
    return tuple(found)
