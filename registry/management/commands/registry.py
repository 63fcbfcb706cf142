"""`manage.py registry`: verbs that concern the registry as a whole."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

from registry.catalog import first_run as defaults
from registry.catalog import revalidation
from registry.cli import sarif, text_output
from registry.cli.command import SubcommandBase, add_format_choices, is_terminal
from registry.cli.text_output import TerminalStyle
from registry.publishing import recheck
from registry.publishing.batch import ValidationResult


class _Counted:
    """Reports as they come, and how many errors and warnings they had."""

    def __init__(self, checked: Iterable[ValidationResult]) -> None:
        self._checked = checked
        self.errors = self.warnings = 0

    def __iter__(self) -> Iterator[ValidationResult]:
        for entry in self._checked:
            self.errors += len(entry.report.errors)
            self.warnings += len(entry.report.warnings)
            yield entry


class Command(SubcommandBase):
    help = "Look after the registry as a whole."

    def add_verbs(self, verbs: Any) -> None:
        self.verb(verbs, "revalidate", self.revalidate, "Queue a check of every published capability by today's rules.")
        words = "Check what is published, or each draft, now; exit 1 where one has an error."
        parser = self.verb(verbs, "check", self.check_stored, words)
        parser.add_argument("capability_ids", nargs="*", metavar="ID", help="these alone; default: all")
        parser.add_argument("--drafts", action="store_true", help="drafts rather than what is published")
        words = "the folder of a repository that has them, for the places in SARIF"
        parser.add_argument("--below", default="", metavar="FOLDER", help=words)
        add_format_choices(parser, ["text", "json", "sarif"])
        parser = self.verb(verbs, "set", self.set, "Set what applies to the registry as a whole.")
        parser.add_argument("name", choices=["first_run"])
        parser.add_argument("value", metavar="ID", help="what a new user's session begins with; '' for nothing")
        self.verb(verbs, "show", self.show, "Show what is set.")

    def set(self, options: dict[str, Any]) -> int:
        defaults.set_first_run(capability_id=options["value"], by=is_terminal())
        return self.show(options)

    def show(self, options: dict[str, Any]) -> int:
        first_run = defaults.get_first_run()
        return self.tell({"first_run": first_run or None}, f"first_run: {first_run or 'nothing'}", options)

    def check_stored(self, options: dict[str, Any]) -> int:
        check = recheck.recheck_drafts if options["drafts"] else recheck.recheck_published
        below = f"{options['below'].strip('/')}/" if options["below"].strip("/") else ""
        # Reports hold the texts, and a registry has thousands: each is printed and released.
        checked = _Counted(check(options["capability_ids"], below=below))
        if options["format"] == "sarif":
            self.document(sarif.build_sarif(checked))
        elif options["format"] == "json":
            bundles = [entry.as_dict() for entry in checked]
            self.document({"bundles": bundles, "errors": checked.errors, "warnings": checked.warnings})
        else:
            paint = TerminalStyle(sys.stdout)
            self.lines(line for entry in checked for line in text_output.format_validation(entry, paint))
        return 1 if checked.errors else 0

    def revalidate(self, options: dict[str, Any]) -> int:
        done = revalidation.queue_all(by=is_terminal())
        waiting = f", {done.already_queued} were queued already" if done.already_queued else ""
        words = f"{done.queued} to be checked by the worker{waiting}. What fails is listed as an incident."
        return self.tell({"queued": done.queued, "already_queued": done.already_queued}, words, options)
