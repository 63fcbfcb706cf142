"""Fill a new data directory: `DATA_DIR=... python bench/fill.py COUNT` publishes capabilities and keeps a key.

The first 150 go through the gate, one by one, and are timed. What is more is stored as rows like theirs, in bulk.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings")

import django
from bundles import bundle

django.setup()

from django.conf import settings
from django.core.management import call_command

from capability_rules.validation import RULES_VERSION
from registry.access import agent_keys
from registry.common.actors import SYSTEM
from registry.core import audit
from registry.core.queries import files_digest, load_bundle
from registry.core.signatures import sign_revision
from registry.core.transactions import bump_registry_revision, write_transaction
from registry.models import Capability, Release, Revision, ToolName
from registry.publishing import publication

PUBLISHED_MAX = 150


def publish_each(count: int) -> None:
    """Publish as an operator would, and print how long one took."""
    seconds = []
    for number in range(count):
        started = time.perf_counter()
        outcome = publication.publish(files=bundle(number, 8), by=SYSTEM)
        seconds.append(time.perf_counter() - started)
        if outcome.status != "published":
            raise SystemExit(f"{number}: {outcome.status} {[f.message for f in outcome.findings]}")
    seconds.sort()
    p50, p95 = (seconds[int(len(seconds) * share)] * 1000 for share in (0.5, 0.95))
    print(json.dumps({"published": count, "publish_p50_ms": round(p50, 1), "publish_p95_ms": round(p95, 1)}))


def store_in_bulk(numbers: range, *, groups: int = 0) -> None:
    """Rows as publishing leaves them, without its checks: 10,000 in seconds. Dealt out to so many skill groups."""
    with write_transaction() as state:
        for chunk in (numbers[at : at + 500] for at in range(0, len(numbers), 500)):
            named = {number: Capability(capability_id=f"bench_{number:03}") for number in chunk}
            Capability.objects.bulk_create(named.values())
            revisions = [_revision(capability, number, groups) for number, capability in named.items()]
            Revision.objects.bulk_create(revisions)
            for revision in revisions:
                revision.capability.status, revision.capability.published_revision = "published", revision
            Capability.objects.bulk_update(named.values(), ["status", "published_revision"])
            Release.objects.bulk_create(
                Release(
                    registry_revision=bump_registry_revision(state),
                    capability=r.capability,
                    revision=r,
                    status="published",
                )
                for r in revisions
            )
            for r in revisions:
                detail = {"revision": r.number, "digest": r.digest, "note": "", "acknowledged": []}
                audit.record(by=SYSTEM, verb="capability.publish", subject=r.capability.capability_id, detail=detail)
            ToolName.objects.bulk_create(
                ToolName(name=name, capability=r.capability) for r in revisions for name in load_bundle(r).tool_names
            )


def _revision(capability: Capability, number: int, groups: int) -> Revision:
    files = {name: str(text) for name, text in bundle(number, 1).items()}
    if groups:
        # Without the phrase that all of them share: no registry has so many owners of one phrase.
        own = {"intent_triggers": [f"bench {number}"], "skill_groups": [f"group_{number % groups}"]}
        files["capability.json"] = json.dumps(json.loads(files["capability.json"]) | own)
    revision = Revision(
        capability=capability, number=1, name=f"Bench {number}", rules_version=RULES_VERSION, created_by="bench"
    )
    revision.files = files
    stored = load_bundle(revision)
    revision.digest, revision.content_digest = stored.digest, stored.content_digest
    revision.files_digest = files_digest(files)
    revision.read_only_digest = stored.without_write_tools().digest
    revision.signature = sign_revision(revision)
    return revision


def main(count: int) -> None:
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    publish_each(min(count, PUBLISHED_MAX))
    if count > PUBLISHED_MAX:
        store_in_bulk(range(PUBLISHED_MAX, count))
    key = agent_keys.create_key(name="bench", by=SYSTEM, scopes=agent_keys.SCOPES)[1]
    (Path(settings.DATA_DIR) / "key").write_text(key)


if __name__ == "__main__":
    main(int(sys.argv[1]))
