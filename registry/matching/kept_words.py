"""The words of each capability as search counts them, kept between two indexes: only new skill docs are read."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from capability_rules.bundles.profile import CapabilityProfile
from registry.matching.ngram_index import Floats
from registry.matching.search import NumberedWords, SearchIndex, number_words, term_stems
from registry.models import Draft, Revision
from registry.snapshot.snapshot import SnapshotEntry

_AT_ONCE: Final = 200
# Past these, stems of texts that are long gone are forgotten with all others.
_STEMS_KEPT_MAX: Final = 2_000_000
TextKey = tuple[str, int, int]


class KeptWords:
    """May be asked by several threads; one reads at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._words: dict[TextKey, NumberedWords] = {}
        self._numbers: dict[str, int] = {}

    def search_index(
        self, known: Sequence[CapabilityProfile], entries: Mapping[str, SnapshotEntry], vectors: Floats | None
    ) -> SearchIndex:
        """The index of these capabilities, whose entries say where their skill docs are."""
        with self._lock:
            if len(self._numbers) > _STEMS_KEPT_MAX:
                self._words, self._numbers = {}, {}
            wanted = {_text_key(entries[one.capability_id]): one for one in known}
            kept = {key: self._words[key] for key in wanted if key in self._words}
            for key, text in _skill_docs([key for key in wanted if key not in kept]):
                kept[key] = number_words(term_stems(wanted[key], text), self._numbers)
            self._words = kept
            nothing = number_words({}, self._numbers)
            return SearchIndex(known, [kept.get(key, nothing) for key in wanted], vectors, self._numbers)


def _text_key(entry: SnapshotEntry) -> TextKey:
    """Where an entry's skill doc is kept."""
    return ("revision", entry.revision_id, 0) if entry.draft is None else ("draft", *entry.draft)


def _skill_docs(keys: Sequence[TextKey]) -> Iterator[tuple[TextKey, str]]:
    """Each key with its text; a draft that was saved meanwhile is left out."""
    for kind, rows in (("revision", Revision.objects.all()), ("draft", Draft.objects.all())):
        wanted = {key[1]: key for key in keys if key[0] == kind}
        numbers = list(wanted)
        for at in range(0, len(numbers), _AT_ONCE):
            texts = rows.filter(pk__in=numbers[at : at + _AT_ONCE]).values_list("pk", "skill_md")
            yield from ((wanted[number], text or "") for number, text in texts)
