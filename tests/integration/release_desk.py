"""`release_desk.py plan SECONDS` plans the first release of a capability; `state` says what became of it."""

from __future__ import annotations

import json
import sys
from datetime import timedelta
from typing import Any

import django

django.setup()

from capability_rules.validation.isolation import pool  # noqa: E402

# Bundles of our own: a process to check them in takes longer to start than all else here.
pool.use_processes(0)

from django.utils import timezone  # noqa: E402

from registry.catalog import drafts  # noqa: E402
from registry.models import Revision, ScheduledRelease  # noqa: E402
from registry.publishing import scheduled_releases  # noqa: E402
from tests.factories import OLGA, bundle  # noqa: E402


def plan(seconds: float) -> None:
    from registry.access.operators import create_operator

    create_operator(username="olga", password="Correct-horse-battery-9", role="publisher", by=OLGA)
    draft = drafts.save_draft(capability_id="alpha", files=bundle(), based_on=None, by=OLGA)
    due_at = timezone.now() + timedelta(seconds=seconds)
    done = scheduled_releases.schedule_release(
        capability_id="alpha", draft_version=draft.version, due_at=due_at, by=OLGA, note="In time"
    )
    assert done.release is not None


def state() -> dict[str, Any]:
    release = ScheduledRelease.objects.get()
    made = [(revision.number, revision.created_at >= release.due_at) for revision in Revision.objects.all()]
    return {"state": release.state, "why": release.reason, "made": made}


def main() -> None:
    if sys.argv[1] == "plan":
        plan(float(sys.argv[2]))
    print(json.dumps(state()))


if __name__ == "__main__":
    main()
