"""`deploy/pin.py` finds images and actions that are named by a tag, and writes their digests."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import pytest

from tests.servers import ROOT

TEXT = """FROM python:3.11-slim AS base
    image: postgres:18
    container: debian:12
      - uses: actions/checkout@v4
      - uses: acme/kept@0123456789012345678901234567890123456789 # v1
    image: nginx:1.29@sha256:abc
"""


@pytest.fixture
def pins() -> ModuleType:
    spec = importlib.util.spec_from_file_location("pin", ROOT / "deploy" / "pin.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_is_named_by_a_tag_is_found(pins: ModuleType) -> None:
    assert list(pins.find_unpinned(TEXT)) == ["python:3.11-slim", "postgres:18", "debian:12", "actions/checkout@v4"]


def test_digests_and_commits_are_written_once(pins: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pins, "image_digest", lambda image: f"sha256:{len(image):064}")
    monkeypatch.setattr(pins, "action_commit", lambda action, ref: f"{len(action + ref):040}")
    pinned = pins.pin(TEXT)
    assert list(pins.find_unpinned(pinned)) == []
    assert f"postgres:18@sha256:{11:064}" in pinned
    assert f"actions/checkout@{18:040} # v4" in pinned
    assert "acme/kept@0123456789012345678901234567890123456789 # v1" in pinned
    assert pins.pin(pinned) == pinned


def test_every_file_that_names_an_image_is_looked_at(pins: ModuleType) -> None:
    seen = [path for pattern in pins.FILES for path in ROOT.glob(pattern)]
    assert {"Dockerfile", "docker-compose.yml"} <= {path.name for path in seen}
    assert any(pins.find_unpinned(path.read_text("utf-8")) for path in seen)
