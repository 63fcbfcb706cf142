"""Documents are read in the process of the test: starting another one takes half a second."""

from __future__ import annotations

import pytest

from features.tool_sources import source_store
from features.tool_sources.source_tools import read_tools
from tests.feature_fixtures import api, closed, fresh_process, manage, signed_in

__all__ = ["api", "closed", "fresh_process", "manage", "signed_in"]


@pytest.fixture(autouse=True)
def read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_store, "read_tools_isolated", read_tools)
