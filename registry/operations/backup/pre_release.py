"""Backups made by a development version before 0.1.0: their table and column names, and today's.

0.1.0 starts with one migration, so that no database is carried over in place. `backup create` of the last development
version and `backup restore` of this one carry everything (docs/operate.md, "Upgrade from before 0.1.0").
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

# The migrations after the first one that no release contains. A file or a database that names one is of that time.
MIGRATIONS: Final = frozenset(
    {
        "0002_jobs",
        "0003_webhooks",
        "0004_matching",
        "0005_feedback",
        "0006_kept_answers",
        "0007_proposals",
        "0008_visibility",
        "0009_install_codes",
        "0010_limited_keys",
        "0011_share_links",
        "0014_reviews",
        "0016_demand",
        "0018_trust",
        "0020_uploads_and_git_sources",
        "0021_followed_registries",
        "0022_review_comments",
        "0023_supporting_files",
        "0024_source_secret_overlap",
        "0025_source_doubt",
        "0026_key_sight_since",
        "0027_draft_versions",
    }
)
# Files of an earlier one lack what later migrations computed from the rows.
LAST_MIGRATION: Final = "0027_draft_versions"

_TABLES: Final = {
    "demandmiss": "unknowncapabilityrequest",
    "keptanswer": "idempotencyrecord",
    "outcome": "feedbackevent",
    "redemption": "installcoderedemption",
}
# By today's table. None: the column is gone.
_COLUMNS: Final[dict[str, dict[str, str | None]]] = {
    "agentkey": {"hint": "key_prefix", "sight_since": "visibility_revision"},
    "confidence": {"hundredths": "percent"},
    "draft": {"based_on_id": "base_revision_id"},
    "gitimport": {"may_replace": "replace_existing", "why": "reason"},
    "gitsource": {
        "looked_at": "last_synced_at",
        "push_words": "push_result",
        "doubted_list": None,
        "accepted_list": None,
        "asked_at": "sync_requested_at",
    },
    "gitsourceitem": {
        "texts_digest": "files_digest",
        "told_digest": "declared_digest",
        "is_ours": "is_managed",
        "there": "upstream_state",
        "taken_at": "imported_at",
    },
    "idempotencyrecord": {"answer": "response"},
    "job": {
        "lane": "concurrency_key",
        "tries": "attempts",
        "tries_max": "max_attempts",
        "leased_until": "lease_expires_at",
        "fence": "fencing_token",
    },
    "registrystate": {"history": "epoch"},
    "review": {"texts_digest": "files_digest", "asked_at": "requested_at", "asked_by": "requested_by"},
    "revision": {"texts_digest": "files_digest", "words_print": "simhash"},
    "scheduledrelease": {"texts_digest": "files_digest", "why": "reason"},
    "sharelink": {"hint": "token_prefix"},
    "unknowncapabilityrequest": {"askers": "requested_by"},
    "unmatchedmessage": {"askers": "requested_by"},
    "webhook": {"disabled_why": "disabled_reason"},
    "webhookdelivery": {"tries": "attempts", "last_tried_at": "last_attempt_at"},
}


def is_pre_release(migrations: Iterable[str]) -> bool:
    """Whether these migrations are those of a development version before 0.1.0."""
    return not MIGRATIONS.isdisjoint(migrations)


def current_table(name: str) -> str:
    """Today's name of a table in such a file."""
    return _TABLES.get(name, name)


def current_columns(table: str, columns: dict[str, Any]) -> dict[str, Any]:
    """A row of such a file by today's column names; `table` is today's."""
    renamed = _COLUMNS.get(table, {})
    named = ((renamed.get(column, column), value) for column, value in columns.items())
    return {column: value for column, value in named if column is not None}


def is_pre_release_database() -> bool:
    """Whether a development version before 0.1.0 created the tables of this database."""
    return is_pre_release(name for app, name in MigrationRecorder(connection).applied_migrations() if app == "registry")
