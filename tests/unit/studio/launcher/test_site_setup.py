"""Static files are collected where they changed, and only there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from studio.launcher.site_setup import prepare_static_files


@pytest.fixture
def source(tmp_path: Path, settings: Any) -> Path:
    """The one static file that there is."""
    settings.DATA_DIR = tmp_path / "data"
    settings.STATIC_ROOT = tmp_path / "collected"
    settings.STATICFILES_DIRS = [tmp_path / "static"]
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    source = tmp_path / "static" / "one.txt"
    source.parent.mkdir()
    source.write_text("old")
    prepare_static_files()
    return source


def test_a_file_with_another_time_is_the_same_file(source: Path, settings: Any) -> None:
    """An image's layers cut times to seconds, and its static files cannot be written."""
    before = {path: path.stat().st_mtime_ns for path in settings.STATIC_ROOT.iterdir()}
    os.utime(source, (1, 1))
    prepare_static_files()
    assert {path: path.stat().st_mtime_ns for path in settings.STATIC_ROOT.iterdir()} == before


def test_a_file_with_other_content_is_collected_again(source: Path, settings: Any) -> None:
    source.write_text("new")
    later = source.stat().st_mtime + 60
    os.utime(source, (later, later))
    prepare_static_files()
    assert "new" in {path.read_text() for path in settings.STATIC_ROOT.glob("one*.txt")}
