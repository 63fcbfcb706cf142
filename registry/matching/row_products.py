"""Products of known vectors with that of a message, which read no more of them than is not zero.

Of the pair of models the last third is zero for all that is English. Vectors of thousands of sentences come from
memory each time, and that takes longer than to multiply them.
"""

from __future__ import annotations

import numpy as np

from registry.matching.ngram_index import Floats


class RowProducts:
    """Of vectors that do not change, shape (rows, dimension)."""

    def __init__(self, vectors: Floats) -> None:
        self._vectors = vectors
        ends = vectors.shape[1] - np.argmax(vectors[:, ::-1] != 0, axis=1)
        self._end = int(np.median(ends)) if len(ends) else 0
        self._longer = np.flatnonzero(ends > self._end)
        self._rest = vectors[self._longer, self._end :]

    def with_vector(self, vector: Floats) -> Floats:
        """The product of each row with a message's vector."""
        found = self._vectors[:, : self._end] @ vector[: self._end]
        found[self._longer] += self._rest @ vector[self._end :]
        return np.asarray(found, np.float32)
