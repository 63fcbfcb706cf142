"""`racers.py each VERB COUNT`: so many processes do the same thing at the same moment; prints what came of each.

The children are forked, so that all are ready when the start is given; each has a database connection of its own.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from typing import Any

from tests.integration import desk  # isort: split

from django.db import connections

from capability_rules.errors import RegistryError
from registry.catalog import drafts
from registry.common.actors import Actor
from registry.core import audit
from registry.models import Capability, Draft, Release, Revision, ToolName
from registry.publishing import publication
from tests.factories import bundle, tool

START_AFTER_SECONDS = 0.4


def racing(number: int) -> Actor:
    return Actor("command_line", f"racer {number}")


def publish_tool(number: int) -> str:
    """One tool name in twenty capabilities."""
    files = bundle(f"racer_{number}", [tool("shared_list")])
    return publication.publish(files=files, by=racing(number)).status


def publish_same(number: int) -> str:
    """Twenty revisions of one capability."""
    return publication.publish(files=bundle(body=f"By {number}."), by=racing(number)).status


def publish_equal(number: int) -> str:
    """The same texts twenty times."""
    return publication.publish(files=bundle(), by=racing(number)).status


def save_draft(number: int) -> str:
    """Twenty saves that are based on one version."""
    files = bundle(body=f"By {number}.")
    return str(drafts.save_draft(capability_id="alpha", files=files, based_on=1, by=racing(number)).version)


def save_first(number: int) -> str:
    """Twenty first saves of one capability that nobody has."""
    files = bundle("new", body=f"By {number}.")
    return str(drafts.save_draft(capability_id="new", files=files, based_on=None, by=racing(number)).version)


def publish_draft(number: int) -> str:
    """Twenty publishes of one draft."""
    return publication.publish_draft(capability_id="alpha", draft_version=1, by=racing(number)).status


VERBS: dict[str, Callable[[int], str]] = {
    verb.__name__: verb for verb in (publish_tool, publish_same, publish_equal, save_draft, save_first, publish_draft)
}


def race(verb: Callable[[int], str], count: int) -> list[dict[str, Any]]:
    """Fork, wait for the start, do it; each child hands its outcome back through a pipe."""
    start = time.monotonic() + START_AFTER_SECONDS
    pipes = []
    for number in range(count):
        reading, writing = os.pipe()
        if os.fork() == 0:
            _run(verb, number, start, writing)
        os.close(writing)
        pipes.append(reading)
    outcomes = []
    for reading in pipes:
        with os.fdopen(reading) as handle:
            outcomes.append(json.loads(handle.read()))
    for _ in range(count):
        os.wait()
    return outcomes


def _run(verb: Callable[[int], str], number: int, start: float, writing: int) -> None:
    outcome: dict[str, Any]
    try:
        time.sleep(max(0, start - time.monotonic()))
        began = time.monotonic()
        outcome = {"outcome": verb(number)}
        outcome["seconds"] = time.monotonic() - began
    except RegistryError as error:
        outcome = {"outcome": error.code}
    except BaseException as error:  # noqa: BLE001 (whatever it was, the parent tells it)
        outcome = {"outcome": f"{type(error).__name__}: {error}"}
    os.write(writing, json.dumps(outcome).encode())
    os._exit(0)


def each(verb: str, count: str) -> dict[str, Any]:
    if verb in ("save_draft", "publish_draft"):
        drafts.save_draft(capability_id="alpha", files=bundle(), based_on=None, by=racing(-1))
    # What loads on first use is loaded before the race, so that it is a race for the lock.
    publication.preview_publish(files=bundle("warm", [tool("warm_list")]))
    connections.close_all()
    outcomes = race(VERBS[verb], int(count))
    broken = audit.find_chain_break()
    return {
        "outcomes": [each["outcome"] for each in outcomes],
        "slowest_seconds": max(each.get("seconds", 0) for each in outcomes),
        "capabilities": list(Capability.objects.values_list("capability_id", "status")),
        "revisions": list(Revision.objects.order_by("capability", "number").values_list("number", flat=True)),
        "releases": list(Release.objects.order_by("registry_revision").values_list("registry_revision", flat=True)),
        "tool_names": list(ToolName.objects.values_list("name", flat=True)),
        "drafts": list(Draft.objects.filter(discarded_at=None).values_list("version", flat=True)),
        "audit_broken": str(broken) if broken else None,
    }


if __name__ == "__main__":
    desk.run(each)
