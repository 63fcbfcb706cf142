"""How near everyday messages come to each capability: a message says something only by what it is nearer than they are.

Some capabilities are near to whatever is said ("introduction", "copywriting"), and the more sentences are known of one,
the nearer any message comes to one of them. Both show in messages that are for nobody in particular
(data/everyday-messages.txt), which are compared once with what is known of each capability (docs/matching.md).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from registry.matching.ngram_index import Floats

EVERYDAY_MESSAGES: Final = tuple(
    (Path(__file__).parent / "data" / "everyday-messages.txt").read_text("utf-8").splitlines()
)
# So many of the everyday messages are less near to a capability than its usual nearness.
_USUAL: Final = 0.85
# Similarities between two languages lie closer together than those within one.
_ACROSS: Final = 1.4
# So that a mean has weights even where all are known by their skill docs.
_LEAST: Final = 1e-6


@dataclass(frozen=True)
class Background:
    """The vectors of everyday messages, as those of messages. `across` are the same messages as if they were in another
    language than English, for an embedder whose first `english_columns` are 0 then; None for all others."""

    messages: Floats
    across: Floats | None = None
    english_columns: int = 0

    def is_across(self, vector: Floats) -> bool:
        """Whether a message is compared as one in another language than English."""
        return self.across is not None and not vector[: self.english_columns].any()

    def foreign_share(self, known: Floats) -> float:
        """How many of these vectors of known sentences are in another language than English, 0 to 1."""
        if self.across is None:
            return 0.0
        return float(np.mean(~known[:, : self.english_columns].any(axis=1)))


# The nearness of these messages to the class at a place.
ClassNearness = Callable[[int, Floats], Floats]


@dataclass(frozen=True)
class UsualNearness:
    """Of each class what is usual, for messages in English and in another language, and what its distance from that is
    multiplied by. Immutable."""

    background: Background
    english: Floats
    across: Floats
    english_scale: Floats
    across_scale: Floats

    def exceed(self, nearness: Floats, vector: Floats) -> Floats:
        """By how much a message with this vector is nearer to each class than usual."""
        if self.background.is_across(vector):
            return np.asarray((nearness - self.across) * self.across_scale, np.float32)
        return np.asarray((nearness - self.english) * self.english_scale, np.float32)


class Calibration:
    """Measures classes, and keeps what it measured for the next index; may be asked by several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._messages: npt.NDArray[np.float32] | None = None
        self._known: dict[Hashable, tuple[float, float]] = {}

    def measure(
        self,
        background: Background,
        keys: Sequence[Hashable],
        nearness: ClassNearness,
        *,
        foreign_shares: Floats,
        described_shares: Floats,
    ) -> UsualNearness:
        """`keys` say what is known of each class: a class with a key of the last time is not measured again.

        `foreign_shares` are how much of it is in another language than English, `described_shares` how much it is known
        by its skill doc. Those with example messages have what is usual among them: the classifier tells them apart.
        """
        with self._lock:
            if self._messages is None or not np.array_equal(self._messages, background.messages):
                self._known, self._messages = {}, background.messages
            new = {key: place for place, key in enumerate(keys) if key not in self._known}
            found = self._known | dict(zip(new, _measure(background, new.values(), nearness), strict=True))
            self._known = {key: found[key] for key in keys}
            own = np.array([self._known[key] for key in keys], np.float32).reshape(-1, 2)
        described = described_shares[:, None]
        usual = described * own + (1 - described) * np.average(own, axis=0, weights=1 - described_shares + _LEAST)
        # What is known in another language is across for a message in English, and may be of one with others.
        more = np.float32(_ACROSS - 1) * foreign_shares
        english, across = np.asarray(usual.T, np.float32)
        return UsualNearness(background, english, across, 1 + more, np.float32(_ACROSS) - more)


def _measure(background: Background, places: Iterable[int], nearness: ClassNearness) -> list[tuple[float, float]]:
    """Of each place what is usual in English and across. Of all at once: numpy takes long to begin with quantiles."""
    messages = [background.messages] if background.across is None else [background.messages, background.across]
    near = [[nearness(place, of_language) for of_language in messages] for place in places]
    return [(usual[0], usual[-1]) for usual in np.quantile(near, _USUAL, axis=-1).tolist()] if near else []
