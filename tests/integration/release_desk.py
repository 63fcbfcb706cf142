"""`release_desk.py plan SECONDS` plans the first release of a capability; `state` says what became of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from tests.integration import desk  # isort: split

from django.utils import timezone

from registry.catalog import drafts
from registry.models import Revision, ScheduledRelease
from registry.publishing import scheduled_releases
from tests.factories import OLGA, bundle


def plan(seconds: str) -> dict[str, Any]:
    from registry.access.operators import create_operator

    create_operator(username="olga", password="Correct-horse-battery-9", role="publisher", by=OLGA)
    draft = drafts.save_draft(capability_id="alpha", files=bundle(), based_on=None, by=OLGA)
    due_at = timezone.now() + timedelta(seconds=float(seconds))
    done = scheduled_releases.schedule_release(
        capability_id="alpha", draft_version=draft.version, due_at=due_at, by=OLGA, note="In time"
    )
    assert done.release is not None
    return state()


def state() -> dict[str, Any]:
    release = ScheduledRelease.objects.get()
    made = [(revision.number, revision.created_at >= release.due_at) for revision in Revision.objects.all()]
    return {"state": release.state, "why": release.reason, "made": made}


if __name__ == "__main__":
    desk.run(plan, state)
