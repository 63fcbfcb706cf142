"""What is stored after a fault, read by a process of its own: `python -m tests.faults.check` prints a JSON document.

`digests` has `[capability_id, revision, digest]`, `feedback` the ids of events, `faults` each broken invariant, `due`
the number of jobs that wait though they are due.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import Any, Final

COMMAND: Final = (sys.executable, "-m", "tests.faults.check")


def main() -> None:
    """Read everything and print it."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "studio.settings"
    import django

    django.setup()
    from django.utils import timezone

    from registry.models import FeedbackEvent, Job, Revision

    digests = Revision.objects.values_list("capability__capability_id", "number", "digest")
    document: dict[str, Any] = {
        "digests": [list(row) for row in digests],
        "feedback": [str(one) for one in FeedbackEvent.objects.values_list("event_id", flat=True)],
        "faults": list(_faults()),
        "due": Job.objects.filter(state="queued", run_after__lte=timezone.now()).count(),
    }
    print(json.dumps(document))


def _faults() -> Iterator[str]:
    yield from _torn_writes()
    yield from _broken_history()


def _torn_writes() -> Iterator[str]:
    from registry.core.queries import load_bundle
    from registry.models import Capability, RegistryState, Release, ToolName

    state = RegistryState.objects.get()
    releases = list(Release.objects.order_by("registry_revision"))
    if [release.registry_revision for release in releases] != list(range(1, state.registry_revision + 1)):
        yield "releases do not count up to the registry revision"
    for capability in Capability.objects.exclude(status="draft"):
        last = [release for release in releases if release.capability_id == capability.pk][-1]
        if (last.revision_id, last.status) != (capability.published_revision_id, capability.status):
            yield f"the pointer of {capability} is not its last release"
        names = set(load_bundle(last.revision).tool_names)
        if names != set(ToolName.objects.filter(capability=capability).values_list("name", flat=True)):
            yield f"the tool names of {capability} are not those of its revision"


def _broken_history() -> Iterator[str]:
    from django.db import connection

    from registry.catalog.integrity import is_intact
    from registry.core import audit
    from registry.models import AuditEvent, FeedbackEvent, Revision

    for revision in Revision.objects.select_related("capability"):
        if not is_intact(revision):
            yield f"{revision.capability} {revision.number} does not match its digest"
    if AuditEvent.objects.filter(verb="capability.publish").count() != Revision.objects.count():
        yield "revisions and their audit rows differ in number"
    if AuditEvent.objects.filter(verb="feedback.record").count() != FeedbackEvent.objects.count():
        yield "outcomes and their audit rows differ in number"
    broken = audit.find_chain_break()
    if broken is not None:
        yield f"the audit log is broken at row {broken.pk}"
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA quick_check")
            if cursor.fetchone() != ("ok",):
                yield "the database file is damaged"


if __name__ == "__main__":
    main()
