"""When a start may skip preparing, and when it must not."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from studio.config.environment import read_environment
from studio.launcher.readiness_stamp import ReadinessStamp


def prepared(tmp_path: Path, **environ: str) -> ReadinessStamp:
    return ReadinessStamp(
        tmp_path, read_environment({"DATA_DIR": str(tmp_path / "data"), **environ}, base_dir=tmp_path)
    )


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A tree and a data directory as a start leaves them, remembered."""
    (tmp_path / "registry").mkdir()
    (tmp_path / "registry" / "models.py").write_text("one")
    (tmp_path / "requirements.lock").write_text("a==1")
    (tmp_path / "data" / "static").mkdir(parents=True)
    (tmp_path / "data" / "static" / "staticfiles.json").write_text("{}")
    apply_migration(tmp_path)
    prepared(tmp_path).remember()
    return tmp_path


def apply_migration(root: Path) -> None:
    with closing(sqlite3.connect(root / "data" / "studio.sqlite3")) as database, database:
        database.execute("CREATE TABLE IF NOT EXISTS django_migrations (id INTEGER PRIMARY KEY, app, name, applied)")
        database.execute("INSERT INTO django_migrations (app, name, applied) VALUES ('registry', '0001', 'now')")


def test_nothing_changed(site: Path) -> None:
    assert prepared(site).is_current()


def edit(root: Path) -> None:
    path = root / "registry" / "models.py"
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))


CHANGES: list[Callable[[Path], object]] = [
    edit,
    apply_migration,
    lambda root: (root / "registry" / "new.py").touch(),
    lambda root: (root / "requirements.lock").write_text("a==22"),
    lambda root: (root / "data" / "studio.sqlite3").unlink(),
    lambda root: (root / "data" / "static" / "staticfiles.json").unlink(),
    lambda root: (root / "data" / "prepared.json").unlink(),
    lambda root: (root / "data" / "prepared.json").write_text("{"),
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_seen(site: Path, change: Callable[[Path], object]) -> None:
    change(site)
    assert not prepared(site).is_current()


def test_a_setting_that_matters_is_seen(site: Path) -> None:
    assert not prepared(site, EXAMPLES="off").is_current()
    assert not prepared(site, DEBUG="on").is_current()
    assert not prepared(site, FEATURES="none").is_current()
    assert prepared(site, PORT="8001").is_current()


def test_postgresql_is_always_asked(site: Path) -> None:
    given = {"DATABASE_URL": "postgresql://h/db", "SECRET_KEY": "k" * 50, "ALLOWED_HOSTS": "a"}
    shared = prepared(site, **given)
    shared.remember()
    assert not shared.is_current()
    assert prepared(site).is_current()


def test_forgotten_is_not_remembered(site: Path) -> None:
    prepared(site).forget()
    assert not prepared(site).is_current()
