"""`crashes.py`: publishes in a child that kills itself before or after a named step; prints what each leaves behind."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any, Literal

from tests.integration import desk  # isort: split

from django.apps import apps
from django.db import connection, connections

from registry.catalog import drafts
from registry.core import audit, transactions
from registry.core.queries import load_bundle
from registry.feature import list_registry_models
from registry.models import Capability, Draft, RegistryState, Release, Revision, ToolName
from registry.publishing import publication, release_pointer
from tests.factories import OLGA, bundle, tool

WHEN: tuple[Literal["before"], Literal["after"]] = ("before", "after")
STEPS: dict[str, tuple[Any, str]] = {
    "store_revision": (publication, "_store_revision"),
    "replace_draft": (publication, "_replace_draft"),
    "take_tool_names": (release_pointer, "_take_tool_names"),
    "close_incidents": (release_pointer, "close_incidents"),
    "move_registry": (release_pointer, "bump_registry_revision"),
    "move_pointer": (publication, "set_published_revision"),
    "audit": (audit, "record"),
    "notify": (transactions, "_notify_listeners"),
    "commit": (connection, "_commit"),
}


def everything() -> dict[str, Any]:
    """Every row of ours."""
    return {
        model.__name__: [list(map(str, row)) for row in model._default_manager.order_by("pk").values_list()]
        for model in list_registry_models()
    }


def faults() -> Iterator[str]:
    """What would show that a write was torn."""
    state = RegistryState.objects.get()
    releases = list(Release.objects.select_related("revision", "capability").order_by("registry_revision"))
    if [release.registry_revision for release in releases] != list(range(1, state.registry_revision + 1)):
        yield "releases do not count up to the registry revision"
    for capability in Capability.objects.exclude(status="draft"):
        last = [release for release in releases if release.capability_id == capability.pk][-1]
        if (last.revision_id, last.status) != (capability.published_revision_id, capability.status):
            yield f"the pointer of {capability} is not its last release"
        names = set(load_bundle(last.revision).tool_names)
        if names != set(ToolName.objects.filter(capability=capability).values_list("name", flat=True)):
            yield f"the tool names of {capability} are not those of its revision"
    published = apps.get_model("registry", "AuditEvent").objects.filter(verb="capability.publish").count()
    if not published == Revision.objects.count() == len(releases):
        yield "revisions, releases and audit rows differ in number"
    if audit.find_chain_break() is not None:
        yield "the audit log is broken"


def crash(step: str, when: Literal["before", "after"], number: int) -> dict[str, Any]:
    """One child that dies, then a publish that must work."""
    files = bundle(tools=[tool(f"alpha_{number}")], body=f"Number {number}.")
    drafts.save_draft(capability_id="alpha", files=files, based_on=None, by=OLGA)
    before = everything()
    connections.close_all()
    child = os.fork()
    if child == 0:
        desk.kill_at(*STEPS[step], when)
        publication.publish_draft(capability_id="alpha", by=OLGA)
        os._exit(0)
    _, ended = os.waitpid(child, 0)
    after = everything()
    return {
        "killed": os.WIFSIGNALED(ended) and os.WTERMSIG(ended) == signal.SIGKILL,
        "old": after == before,
        "faults": list(faults()),
        "draft_left": Draft.objects.filter(discarded_at=None).exists(),
        "next": publication.publish(files=files, by=OLGA).status,
    }


def each_step() -> dict[str, Any]:
    publication.publish(files=bundle(tools=[tool("alpha_0")]), by=OLGA)
    report = {}
    number = 1
    for step in STEPS:
        for when in WHEN:
            report[f"{step} {when}"] = crash(step, when, number)
            number += 1
    return report


if __name__ == "__main__":
    desk.run(each_step)
