"""Texts beside the four: which paths an agent writes to its disk, whatever a registry answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from capability_kit.bundles.supporting_files import is_path, read_files, write_files

ODD = [
    "references/../../.bashrc", "references/.env", "/etc/passwd", "references\\a.md", "other/a.md", "references",
    "references/CON.md", "references/aux", "references/com1.txt.md", "references/-rf.md", "references/a  b.md",
    "references/a\u200b.md", "references/read\u202edm.exe.md", "references/guide\U000e0069.md",
    "references/p\u0430y.md",
    "references/a.md.", "references/a.md ", "references/" + "x" * 200, "references/a\n.md", "references/a:b.md",
]  # fmt: skip


@pytest.mark.parametrize("path", ODD, ids=ascii)
def test_an_odd_path_is_none_and_nothing_is_written(path: str, tmp_path: Path) -> None:
    assert not is_path(path)
    with pytest.raises(ValueError, match="cannot have the path"):
        write_files(tmp_path, {"references/a.md": "x", path: "x"})
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("path", ["references/a.md", "scripts/x/_run 2.py", "assets/v1.2-data.csv"])
def test_a_usual_path_is_one(path: str, tmp_path: Path) -> None:
    assert is_path(path)
    write_files(tmp_path, {path: "x"})
    assert read_files(tmp_path) == {path: "x"}


def test_what_has_an_odd_path_on_disk_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "references").mkdir()
    for name in ("a.md", "guide\U000e0069.md", "read\u202edm.exe.md"):
        (tmp_path / "references" / name).write_text("x")
    assert read_files(tmp_path) == {"references/a.md": "x"}
