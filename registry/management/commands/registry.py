"""`manage.py registry`: verbs that concern the registry as a whole."""

from __future__ import annotations

from typing import Any

from registry import revalidation
from registry.management.verbs import VerbCommand, at_terminal


class Command(VerbCommand):
    help = "Look after the registry as a whole."

    def add_verbs(self, verbs: Any) -> None:
        self.verb(verbs, "revalidate", self.revalidate, "Queue a check of every published capability by today's rules.")

    def revalidate(self, options: dict[str, Any]) -> int:
        done = revalidation.queue_all(by=at_terminal())
        if options["format"] == "json":
            self.document({"queued": done.queued, "already_queued": done.already_queued})
        else:
            waiting = f", {done.already_queued} were queued already" if done.already_queued else ""
            self.line(f"{done.queued} to be checked by the worker{waiting}. What fails is listed as an incident.")
        return 0
