"""Products that leave out what is zero are the whole products."""

from __future__ import annotations

import numpy as np
import pytest

from registry.matching.row_products import RowProducts


@pytest.mark.parametrize("foreign", [0, 3, 20, 40])
def test_products_are_those_of_whole_rows(foreign: int) -> None:
    chosen = np.random.default_rng(7)
    vectors = chosen.random((40, 12), np.float32)
    vectors[foreign:, 8:] = 0
    vectors[:foreign, :4] = 0
    message = chosen.random(12, np.float32)
    np.testing.assert_allclose(RowProducts(vectors).with_vector(message), vectors @ message, rtol=1e-5)


def test_no_rows_and_rows_of_zeros_are_no_trouble() -> None:
    message = np.ones(12, np.float32)
    assert RowProducts(np.zeros((0, 12), np.float32)).with_vector(message).shape == (0,)
    assert not RowProducts(np.zeros((3, 12), np.float32)).with_vector(message).any()
