"""Parts of a style sheet are served as one file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from studio.config.static_storage import join_parts
from studio.launcher.site_setup import prepare_static_files
from tests.servers import ROOT

STATIC = ROOT / "studio" / "static"


@pytest.fixture
def collected(tmp_path: Path, settings: Any) -> Path:
    """The static files as the product serves them."""
    settings.DATA_DIR = tmp_path / "data"
    settings.STATIC_ROOT = tmp_path / "collected"
    settings.STATICFILES_DIRS = [STATIC]
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "studio.config.static_storage.HashedStaticFilesStorage"},
    }
    prepare_static_files()
    return tmp_path / "collected" / "studio"


def test_what_every_page_loads_is_one_file(collected: Path) -> None:
    (sheet,) = collected.glob("studio.*.css")
    text = sheet.read_text("utf-8")
    assert "@import" not in text
    assert ".btn {" in text
    (icon,) = collected.glob("icons/chevron-down.*.svg")
    assert f'url("icons/{icon.name}")' in text


def test_a_part_keeps_its_layer_and_its_addresses() -> None:
    sheet = {
        "a/all.css": '@layer x, y;\n@import "parts/one.css" layer(y);\n@import "parts/two.css";\n',
        "a/parts/one.css": '.one {\n  background: url("../icons/one.svg");\n}\n',
        "a/parts/two.css": ".two {\n  color: red;\n}\n",
    }
    assert join_parts("a/all.css", sheet.__getitem__) == (
        '@layer x, y;\n@layer y {\n.one {\n  background: url("icons/one.svg");\n}\n}\n.two {\n  color: red;\n}\n'
    )


def test_a_part_that_is_missing_stops_the_collecting() -> None:
    with pytest.raises(KeyError, match=r"parts/one\.css"):
        join_parts("a/all.css", {"a/all.css": '@import "parts/one.css" layer(y);\n'}.__getitem__)
