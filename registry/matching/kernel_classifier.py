"""The linear head: which capability a sentence belongs to, learned from the example sentences.

Multinomial logistic regression in the space that the similarity of sentences spans (its kernel), so that what is stored
is one row of numbers a sentence, however many words there are. Measured against nearest-neighbor rules in
docs/matching.md.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from registry.matching.ngram_index import Floats

# Softmax sharpness and regularization of the weights; measured together.
TEMPERATURE: Final = 10.0
_REGULARIZATION: Final = 0.1
_STEPS: Final = 100
# Beyond these the fit takes minutes, and nearest sentences and centroids decide instead.
SAMPLES_MAX: Final = 8_000
_WORK_MAX: Final = 2.5e9
# What is done at once, while a user waits: some 50 ms.
_WORK_AT_ONCE: Final = 5e7
# How much a sample that was not in the fit counts, beside those that were: with more, new capabilities take messages
# from the others, with less they are not found (CLINC150: 15 and 1 of 150 capabilities new, 20 sentences each).
_NEW_SAMPLE_SHARE: Final = 0.7


def can_fit(samples: int, classes: int) -> bool:
    """Whether a fit of this size is done at all."""
    return classes > 1 and samples <= SAMPLES_MAX and samples * samples * classes <= _WORK_MAX


def is_cheap_to_fit(samples: int, classes: int) -> bool:
    """Whether a fit of this size may be done while a user waits."""
    return can_fit(samples, classes) and samples * samples * classes <= _WORK_AT_ONCE


def fit_classifier(likeness: Floats, labels: npt.NDArray[np.int64], classes: int) -> Floats:
    """Weights of shape (samples, classes): `likeness_row @ weights` are the scores of the classes.

    `likeness` is the matrix of all samples with each other; `labels` the class of each. Deterministic.
    """
    kernel = likeness * np.float32(TEMPERATURE)
    wanted = np.eye(classes, dtype=np.float32)[labels]
    step = np.float32(1 / (0.5 * _largest_eigenvalue(kernel) + _REGULARIZATION))
    weights = ahead = np.zeros((len(labels), classes), np.float32)
    momentum = 1.0
    for _ in range(_STEPS):
        guessed = predict_probabilities((kernel @ ahead).astype(np.float32))
        slope = guessed - wanted + np.float32(_REGULARIZATION) * ahead
        following = (ahead - step * slope).astype(np.float32)
        grown = (1 + (1 + 4 * momentum * momentum) ** 0.5) / 2
        ahead = following + np.float32((momentum - 1) / grown) * (following - weights)
        weights, momentum = following, grown
    return weights * np.float32(TEMPERATURE)


def extend_classifier(
    weights: Floats, old_labels: npt.NDArray[np.int64], labels: npt.NDArray[np.int64], *,
    rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64],
) -> Floats:  # fmt: skip
    """The weights of a fit, for samples and classes of which some are new; of use until a job has fitted all.

    `rows` has for each sample its row in `weights`, -1 for a new one; `columns` likewise for each class. What is new is
    weighted as samples of the fit are on average, for their own class and for the others.
    """
    samples, classes = weights.shape
    own = float(weights[np.arange(samples), old_labels].mean())
    other = (float(weights.sum()) - own * samples) / max(1, samples * (classes - 1))
    extended = np.full((len(labels), len(columns)), other, np.float32)
    extended[np.arange(len(labels)), labels] = own * _NEW_SAMPLE_SHARE
    known_rows, known_columns = np.flatnonzero(rows >= 0), np.flatnonzero(columns >= 0)
    extended[np.ix_(known_rows, known_columns)] = weights[np.ix_(rows[known_rows], columns[known_columns])]
    return extended


def predict_probabilities(scores: Floats) -> Floats:
    """Of each row of scores, or of one message's, summing to 1."""
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True), np.float32)


def _largest_eigenvalue(matrix: Floats) -> float:
    vector = np.ones(len(matrix), np.float32)
    length = 1.0
    for _ in range(30):
        vector = matrix @ vector
        length = float(np.linalg.norm(vector)) or 1.0
        vector = vector / np.float32(length)
    return length


def to_bytes(weights: Floats) -> bytes:
    """As stored: float16, little-endian, row by row."""
    return weights.astype("<f2").tobytes()
