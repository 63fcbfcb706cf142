"""`manage.py registry`: verbs that concern the registry as a whole."""

from __future__ import annotations

from typing import Any

from registry import defaults, revalidation
from registry.management.verbs import VerbCommand, at_terminal


class Command(VerbCommand):
    help = "Look after the registry as a whole."

    def add_verbs(self, verbs: Any) -> None:
        self.verb(verbs, "revalidate", self.revalidate, "Queue a check of every published capability by today's rules.")
        parser = self.verb(verbs, "set", self.set, "Set what holds for the registry as a whole.")
        parser.add_argument("name", choices=["first_run"])
        parser.add_argument("value", metavar="ID", help="what a new user's session begins with; '' for nothing")
        self.verb(verbs, "show", self.show, "Show what is set.")

    def set(self, options: dict[str, Any]) -> int:
        defaults.set_first_run(capability_id=options["value"], by=at_terminal())
        return self.show(options)

    def show(self, options: dict[str, Any]) -> int:
        first_run = defaults.first_run()
        if options["format"] == "json":
            self.document({"first_run": first_run or None})
        else:
            self.line(f"first_run: {first_run or 'nothing'}")
        return 0

    def revalidate(self, options: dict[str, Any]) -> int:
        done = revalidation.queue_all(by=at_terminal())
        if options["format"] == "json":
            self.document({"queued": done.queued, "already_queued": done.already_queued})
        else:
            waiting = f", {done.already_queued} were queued already" if done.already_queued else ""
            self.line(f"{done.queued} to be checked by the worker{waiting}. What fails is listed as an incident.")
        return 0
