"""`python -m tests.release_sites NAME FOLDER [DATABASE]`: a small site of the code that is checked out, as SQL.

As `release_databases`, but with what people made: signed revisions, a draft, a planned release, keys, an operator, a
source, a webhook, the audit log with a checkpoint. `test_upgrades.py` starts this version on it.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.release_databases import store

# Of these sites alone.
SECRET_KEY = "a-key-of-a-site-that-is-stored-for-tests-and-of-nothing-else-0000000000"
AGENT_KEY_NAME, OPERATOR, PASSWORD = "runtime", "olga", "correct horse battery"
SOURCE = "https://git.example/skills"
# A year ahead at most when it was made; the test that reads it writes a year that is still to come.
DUE = datetime(2027, 10, 1, tzinfo=UTC)


def signing_key() -> bytes:
    """The same for each site, so that no file with a key is stored."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def bundle(capability_id: str, line: str) -> dict[str, str]:
    """Two required files and a reference, as any version takes them."""
    capability = {
        "capability_id": capability_id,
        "name": capability_id.title(),
        "description": "Everything about the weather of tomorrow.",
        "intent_triggers": ["weather tomorrow", "will it rain"],
    }
    skill = (
        f"# Weather\n\n## When to use\n\nFor questions about the weather.\n\n## Default behavior\n\n{line}\n\n"
        "## Examples\n\n- **User:** Will it rain?\n  **Agent:** Yes, in the afternoon.\n"
    )
    return {
        "capability.json": json.dumps(capability),
        "skill.md": skill,
        "references/rain.md": "# Rain\n\nIt is wet: ü, 雨.\n",
    }


def furnish() -> str:
    """Fill the migrated database; returns the text of the agent key."""
    from registry.access import agent_keys, operators
    from registry.catalog import drafts
    from registry.common.actors import Actor
    from registry.core import checkpoints
    from registry.publishing import publication, scheduled_releases

    by = Actor("command_line", "setup")
    operators.create_operator(username=OPERATOR, role="admin", password=PASSWORD, by=by)
    _, key = agent_keys.create_key(name=AGENT_KEY_NAME, by=by)
    for capability_id in ("weather", "climate"):
        for line in ("First answer.", "Second answer."):
            done = publication.publish(files=bundle(capability_id, line), by=by, note=f"It says: {line}")
            assert done.status == "published", done
    publication.deprecate(capability_id="climate", by=by)
    version = drafts.save_draft(
        capability_id="weather", files=bundle("weather", "A draft."), based_on=None, by=by
    ).version
    for line, based_on in (("A draft.", None), ("Again.", 1)):
        drafts.save_draft(capability_id="draft_alone", files=bundle("draft_alone", line), based_on=based_on, by=by)
    scheduled_releases.schedule_release(
        capability_id="weather",
        draft_version=version,
        due_at=DUE,
        by=by,
        note="In autumn",
    )
    webhooks = import_first("features.webhooks.webhook_store", "registry.notifications.webhooks")
    webhooks.create_webhook(name="team", url="https://hooks.example.com/x", by=by)
    sources = import_first("features.sources.source_sync", "registry.sources.source_sync")
    sources.add_git_source(spec=SOURCE, mode="draft", every_minutes=60, by=by)
    checkpoints.make_checkpoint()
    return key


def import_first(*names: str) -> Any:
    """The module that this release has by one of the names, the newest first. Raises `ImportError`."""
    for name in names:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise ImportError(names[0])


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings")
    store(sys.argv[1], Path(sys.argv[2]), lambda: f"-- {furnish()}\n")
