"""Bring a data directory and a database to the state that this code needs."""

from __future__ import annotations

import contextlib
import hashlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.core.management.base import OutputWrapper
from django.db import connection

from registry.common.installation import PROGRAM
from registry.operations.absent_features import find_absent_features
from studio.config.environment import ConfigurationError

# Kept by PostgreSQL for the length of a session; any number that nobody else uses.
_ADVISORY_LOCK = 0x5354_5544_494F
# The browsable renderer is off, and maps are for debugging minified scripts.
_NOT_SERVED = ["rest_framework", "*.map", "*.ts"]


def setup_site(output: TextIO | OutputWrapper) -> None:
    """Collect static files where they changed, then migrate and publish; `output` gets what `prepare` says.

    One process at a time: others that share the data directory or the database wait. Raises OSError where DATA_DIR
    cannot be written, django.db.OperationalError where the database cannot be reached, and ConfigurationError where the
    database file of a registry that was started before is gone.
    """
    with _one_at_a_time():
        _require_database_of_before()
        _require_used_features()
        _collect_static_files()
        _unpack_model()
        call_command("prepare", stdout=output)
        _remember_first_start()


def _require_database_of_before() -> None:
    """A file that is missing or empty is a first start only where there has been none: else a registry was lost."""
    if connection.vendor != "sqlite" or not _first_start_mark().exists():
        return
    database = Path(settings.DATABASES["default"]["NAME"])
    size_bytes = database.stat().st_size if database.exists() else None
    if not size_bytes:
        raise ConfigurationError(
            f"DATA_DIR is '{settings.DATA_DIR}', where a registry was started before, and its database "
            f"{database.name} is {'missing' if size_bytes is None else 'empty'}: expected the file. Fix: put it back, "
            f"or restore a backup with {PROGRAM} manage migrate and then {PROGRAM} manage backup restore "
            f"FILE. To begin with an empty registry, delete {_first_start_mark()}"
        )


def _require_used_features() -> None:
    if absent := find_absent_features():
        raise ConfigurationError(*absent)


def _remember_first_start() -> None:
    if connection.vendor == "sqlite" and not _first_start_mark().exists():
        _first_start_mark().write_text(f"{settings.DATABASES['default']['NAME']} was prepared here.\n", "utf-8")


def _first_start_mark() -> Path:
    """There once a first start has been completed. Beside the database, and not in it, because it outlives that."""
    return Path(settings.DATA_DIR) / "first_start_done"


def prepare_static_files() -> None:
    """Make the files that need no database alone: for the build of an image and an upgrade's first step."""
    with _directory_lock(Path(settings.DATA_DIR)):
        _collect_static_files()
        _unpack_model()


def _unpack_model() -> None:
    """Else each server did it, and had 50 MB more until its next start."""
    # numpy and the text rules of matching: only what prepares a site pays for them.
    from registry.matching.embedders import get_embedder
    from registry.matching.embedding import EmbedderUnavailable
    from registry.matching.multilingual import PairEmbedder

    embedder = get_embedder()
    if isinstance(embedder, PairEmbedder):
        # A server holds in memory what no file can be made of.
        with contextlib.suppress(OSError, EmbedderUnavailable):
            embedder.prepare()


def _collect_static_files() -> None:
    """Write hashed and compressed copies of every static file into STATIC_ROOT, unless they are there already."""
    if settings.DEBUG:
        return
    stamp = Path(settings.STATIC_ROOT) / ".collected"
    state = _static_state()
    with contextlib.suppress(OSError):
        if stamp.read_text("ascii") == state:
            return
    stamp.unlink(missing_ok=True)
    call_command("collectstatic", interactive=False, verbosity=0, ignore_patterns=_NOT_SERVED, stdout=io.StringIO())
    stamp.write_text(state, "ascii")


def _static_state() -> str:
    """A digest over name and content of every file that would be collected.

    Not over their times: an image's layers cut these, and every container would find its own files stale.
    """
    digest = hashlib.sha256()
    for finder in get_finders():
        for name, storage in finder.list(_NOT_SERVED):
            content = hashlib.sha256(Path(storage.path(name)).read_bytes()).hexdigest()
            digest.update(f"{name}\0{content}\n".encode())
    return digest.hexdigest()


@contextlib.contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Hold a lock in DATA_DIR, and on PostgreSQL one in the database, which other hosts share."""
    with _directory_lock(Path(settings.DATA_DIR)), _database_lock():
        yield


@contextlib.contextmanager
def _directory_lock(data_dir: Path) -> Iterator[None]:
    data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        import fcntl
    except ImportError:
        # Windows: one host, one operator.
        yield
        return
    with (data_dir / "prepare.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def _database_lock() -> Iterator[None]:
    if connection.vendor != "postgresql":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [_ADVISORY_LOCK])
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [_ADVISORY_LOCK])
