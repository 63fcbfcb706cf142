"""Documents are read in the process of the test: starting another one takes half a second."""

from __future__ import annotations

import pytest

from features.tool_sources import source_store
from features.tool_sources.source_tools import read_tools


@pytest.fixture(autouse=True)
def read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_store, "read_tools_isolated", read_tools)
