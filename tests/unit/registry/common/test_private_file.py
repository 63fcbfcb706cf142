"""A file with a secret: whole, private, and made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.common.private_file import create_private_file


def test_it_is_readable_by_its_owner_alone_and_the_first_one_stays(tmp_path: Path) -> None:
    path = tmp_path / "new" / "key"
    create_private_file(path, b"first")
    create_private_file(path, b"second")
    assert path.read_bytes() == b"first"
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert [each.name for each in path.parent.iterdir()] == ["key"], "no draft is left"


def test_without_links_the_last_one_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, target: Path) -> None:
        raise OSError("no links here")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    create_private_file(tmp_path / "key", b"one")
    create_private_file(tmp_path / "key", b"two")
    assert (tmp_path / "key").read_bytes() == b"two"
    assert [each.name for each in tmp_path.iterdir()] == ["key"]
