"""Marks the tests whose steps follow the Studio's pages as they were before the new frame and words."""

from __future__ import annotations

import pytest

# Not strict: where the steps still fit, the test counts. Each is to be rewritten, and this file to go.
follows_old_pages = pytest.mark.xfail(reason="its steps follow the pages before the new frame and words", strict=False)
