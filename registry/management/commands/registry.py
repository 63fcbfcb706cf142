"""`manage.py registry`: verbs that concern the registry as a whole."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from capability_rules.output import sarif
from capability_rules.output.text import TerminalStyle, format_validation
from capability_rules.validation.bundle_set import ValidationResult
from registry.catalog import first_run as defaults
from registry.catalog import revalidation
from registry.cli.command import SubcommandBase, add_format_choices, terminal_actor
from registry.cli.history_output import tell_history
from registry.core import checkpoints
from registry.core.signing_keys import build_key_list, get_signing_keys
from registry.matching.training_progress import get_training_progress
from registry.operations.verification import verify as verification
from registry.publishing import recheck


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
        words = "Show how many sentences have vectors of the present model, and how the job is doing that makes them."
        self.verb(verbs, "vectors", self.vectors, words)
        self._add_verbs_of_history(verbs)

    def _add_verbs_of_history(self, verbs: Any) -> None:
        words = "Compare audit log, revisions, releases and checkpoints with what was signed; exit 1 where one differs."
        parser = self.verb(verbs, "verify", self.verify, words)
        words = "the public keys to trust, as /.well-known/capability-studio-keys.json has them; default: our own"
        parser.add_argument("--keys", type=Path, metavar="FILE", help=words)
        words = "rather than the database: an audit log, exported as lines of JSON without filters"
        parser.add_argument("--audit-log", type=Path, metavar="FILE", help=words)
        words = "with --audit-log: a response of registry_checkpoints that was kept since"
        parser.add_argument("--checkpoints", type=Path, metavar="FILE", help=words)
        words = "Sign what was published before revisions were signed."
        self.verb(verbs, "sign", self.sign, words)
        parser = self.verb(verbs, "checkpoint", self.checkpoint, "Sign how far the history has come, now.")
        words = "go on from the database's last checkpoint, whichever this host has kept: after a restore or a move"
        parser.add_argument("--forget-kept", action="store_true", help=words)
        self.verb(verbs, "keys", self.keys, "Show the public keys whose signatures are valid; the first one signs.")

    def set(self, options: dict[str, Any]) -> int:
        defaults.set_first_run(capability_id=options["value"], by=terminal_actor())
        return self.show(options)

    def show(self, options: dict[str, Any]) -> int:
        first_run = defaults.get_first_run()
        return self.tell({"first_run": first_run or None}, f"first_run: {first_run or 'nothing'}", options)

    def vectors(self, options: dict[str, Any]) -> int:
        row = get_training_progress().as_dict()
        lines = [f"{key}: {'none' if value in ('', None) else value}" for key, value in row.items()]
        return self.tell(row, lines, options)

    def verify(self, options: dict[str, Any]) -> int:
        trusted = verification.read_key_file(options["keys"]) if options["keys"] else get_signing_keys().public
        if options["audit_log"] is not None:
            kept = verification.read_checkpoint_file(options["checkpoints"]) if options["checkpoints"] else []
            report = verification.verify_exported_log(options["audit_log"], kept, trusted)
        elif options["checkpoints"] is not None:
            return self.report_usage_error("--checkpoints goes with --audit-log", options)
        else:
            report = verification.verify_database(trusted)
        return tell_history(self, report, options)

    def sign(self, options: dict[str, Any]) -> int:
        count = verification.sign_unsigned_revisions(by=terminal_actor())
        return self.tell({"signed": count}, f"{count} revisions were signed", options)

    def checkpoint(self, options: dict[str, Any]) -> int:
        if options["forget_kept"]:
            checkpoints.forget_kept(by=terminal_actor())
        facts = verification.make_sound_checkpoint()
        words = f"Checkpoint {facts.number}: registry revision {facts.registry_revision}, {facts.audit_rows} audit rows"
        return self.tell({**facts.payload(), "hash": facts.hash}, words, options)

    def keys(self, options: dict[str, Any]) -> int:
        document = build_key_list()
        return self.tell(document, [f"{row['public_key']}  {row['status']}" for row in document["keys"]], options)

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
            self.lines(line for entry in checked for line in format_validation(entry, paint))
        return 1 if checked.errors else 0

    def revalidate(self, options: dict[str, Any]) -> int:
        done = revalidation.queue_all(by=terminal_actor())
        waiting = f", {done.already_queued} were queued already" if done.already_queued else ""
        words = f"{done.queued} to be checked by the worker{waiting}. What fails is listed as an incident."
        return self.tell({"queued": done.queued, "already_queued": done.already_queued}, words, options)
