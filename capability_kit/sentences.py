"""What an agent's runtime says to people, from a catalog that an application can replace (docs/contract.md 7).

A catalog has the sentences of a language by their English form, and the words by which a person says yes or no. English
needs none. German, Spanish, French, Chinese and Japanese are in sentences.json.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final

_SHIPPED: Final = Path(__file__).with_name("sentences.json")
YES: Final = frozenset({"yes", "y", "yeah", "yep", "yup", "true", "ok", "okay", "sure", "of course", "1"})
NO: Final = frozenset({"no", "n", "nope", "nah", "false", "0"})


@dataclass(frozen=True, slots=True)
class SentenceCatalog:
    """The sentences of one language. `sentences` are by their English form, with its `{places}`; what is missing is
    said in English. `yes` and `no` are in lower case."""

    language: str = "en"
    sentences: Mapping[str, str] = field(default_factory=dict)
    yes: frozenset[str] = YES
    no: frozenset[str] = NO


ENGLISH: Final = SentenceCatalog()


@lru_cache(maxsize=1)
def shipped_catalogs() -> dict[str, SentenceCatalog]:
    """By language: de, en, es, fr, ja, zh."""
    found = {"en": ENGLISH}
    for language, row in json.loads(_SHIPPED.read_text("utf-8")).items():
        found[language] = SentenceCatalog(language, row["sentences"], frozenset(row["yes"]), frozenset(row["no"]))
    return found


_default = ENGLISH
_here: ContextVar[SentenceCatalog | None] = ContextVar("capability_kit.sentences", default=None)


def set_sentences(catalog: SentenceCatalog | str) -> None:
    """Speak this language in the whole program: a catalog, or the language of one that ships.

    Raises `ValueError` for an unknown language.
    """
    global _default
    _default = _catalog(catalog)


@contextmanager
def speaking(catalog: SentenceCatalog | str) -> Iterator[None]:
    """Speak this language here alone, such as for one user of a server. Raises `ValueError`."""
    token = _here.set(_catalog(catalog))
    try:
        yield
    finally:
        _here.reset(token)


def current_catalog() -> SentenceCatalog:
    """The catalog of sentences in the language spoken here."""
    return _here.get() or _default


def say(sentence: str, **values: str) -> str:
    """A sentence, written in English, in the language that is spoken here, with its places filled."""
    return current_catalog().sentences.get(sentence, sentence).format(**values)


def _catalog(catalog: SentenceCatalog | str) -> SentenceCatalog:
    if isinstance(catalog, SentenceCatalog):
        return catalog
    shipped = shipped_catalogs()
    if catalog not in shipped:
        raise ValueError(f"There is no catalog of {catalog!r}; there are {', '.join(sorted(shipped))}")
    return shipped[catalog]
