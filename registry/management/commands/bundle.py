"""`manage.py bundle`: validate, publish, import, export and what else changes a bundle's life (docs/contract.md 5)."""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from django.db import close_old_connections

from capability_rules.bundles.bundle_reader import SourceBundle, read_bundle
from capability_rules.discovery.bundle_discovery import with_id
from capability_rules.errors import RegistryError, SourceUnreadable
from capability_rules.output import sarif
from capability_rules.output.text import (
    TerminalStyle,
    escape_controls,
    format_findings,
    format_summary,
    format_validation,
)
from capability_rules.validation import Finding
from features.acceptances.cli import AcceptanceVerbs, describe_command
from registry.catalog import drafts, exporter
from registry.cli import text_output
from registry.cli.command import add_format_choices, pick, terminal_actor
from registry.cli.scan_verbs import ScanVerbs
from registry.core import queries
from registry.importing.folder_watcher import POLL_SECONDS, FolderWatcher
from registry.importing.git_discovery import discover_source, open_login
from registry.importing.git_reader import is_git_url, redact_address
from registry.models import Capability
from registry.publishing import batch, bundle_powers, publication
from registry.publishing.batch import BatchResult
from registry.publishing.quarantine import quarantine
from registry.publishing.scan_results import get_files_digest
from registry.selectors.effects import RetirementEffects, get_retirement_effects

ResultRow = dict[str, Any]


class Command(AcceptanceVerbs, ScanVerbs):
    help = "Validate, publish, import, export and manage capability bundles."

    def add_verbs(self, verbs: Any) -> None:
        self._add_batch_verbs(verbs)
        self.verb(verbs, "list", self.list, "List all capabilities.")
        self._add_single_verbs(verbs)
        self._add_powers(verbs)
        self.add_acceptance_verbs(verbs)
        self.add_scan_verbs(verbs)

    def _add_powers(self, verbs: Any) -> None:
        parser = self.verb(verbs, "powers", self.powers, "List what a bundle may do, and what of it is new.")
        parser.add_argument("what", metavar="ID|PATH", help="a capability, or a bundle folder or zip")
        parser.add_argument("--draft", action="store_true", help="the draft of the capability, not what is published")

    def _add_batch_verbs(self, verbs: Any) -> None:
        parser = self.verb(verbs, "validate", self.validate, "Check bundles; exit 1 where one has an error.")
        parser.add_argument("paths", nargs="+", metavar="PATH", help="a bundle folder, a zip, or a folder of bundles")
        add_format_choices(parser, ["text", "json", "sarif"])
        parser = self.verb(
            verbs, "publish", self.publish, "Publish bundles, or a draft; one refused never stops the rest."
        )
        parser.add_argument("paths", nargs="*", metavar="PATH")
        words = "publish this capability's draft; may be repeated"
        parser.add_argument("--draft", action="append", default=[], metavar="ID", help=words)
        parser.add_argument("--note", default="", help="why, for the history")
        parser.add_argument("--dry-run", action="store_true", help="show what would change, change nothing")
        parser.add_argument(
            "--acknowledge", action="append", default=[], metavar="CODE", help="such as POLICY_LOOSENED"
        )
        parser = self.verb(verbs, "import", self.import_, "Take bundles and Agent Skills in as drafts.")
        where = "a folder, a zip or tar.gz, a SKILL.md, or https://host/repository[@branch-or-tag][#folder]"
        parser.add_argument("paths", nargs="+", metavar="SOURCE", help=where)
        words = "what git signs in with, as kept by: credential create"
        parser.add_argument("--credential", default="", metavar="NAME", help=words)
        modes = parser.add_mutually_exclusive_group()
        modes.add_argument("--as-draft", dest="mode", action="store_const", const="draft", default="draft")
        modes.add_argument("--publish", dest="mode", action="store_const", const="publish")
        parser.add_argument("--note", default="")
        parser.add_argument(
            "--acknowledge", action="append", default=[], metavar="CODE", help="with --publish, such as POLICY_LOOSENED"
        )
        words = "the id of the one Agent Skill that SOURCE has, whatever its name is"
        parser.add_argument("--as-id", default="", metavar="ID", help=words)
        words = "keep watching one folder: each save becomes the draft, until Ctrl+C"
        parser.add_argument("--watch", action="store_true", help=words)

    def _add_single_verbs(self, verbs: Any) -> None:
        parser = self.verb(verbs, "export", self.export, "Write a capability's files, or all of them.")
        parser.add_argument("capability_id", nargs="?", metavar="ID")
        parser.add_argument("--all", action="store_true", help="every capability that agents can load, a folder each")
        parser.add_argument("--to", required=True, metavar="PATH", help="a folder, a .zip or a .tar.gz")
        parser.add_argument("--draft", action="store_true", help="the draft, not what is published")
        # Here the word has two meanings: what is written (bundle), and what is printed (text, json).
        add_format_choices(parser, [*exporter.FORMATS, "text", "json"])
        parser = self.verb(verbs, "rollback", self.rollback, "Point readers at an older revision.", "capability_id")
        parser.add_argument("--to", required=True, type=int, metavar="REVISION")
        parser.add_argument("--acknowledge", action="append", default=[], metavar="CODE")
        _note(parser)
        parser = self.verb(
            verbs, "deprecate", self.deprecate, "Say that a capability is on its way out.", "capability_id"
        )
        parser.add_argument("--replaced-by", metavar="ID")
        _note(parser)
        words = "Say who sees it: all, or who redeems its install code."
        parser = self.verb(verbs, "visibility", self.visibility, words, "capability_id")
        parser.add_argument("visibility", choices=["listed", "unlisted"])
        _note(parser)
        for name, handler, words in (
            ("quarantine", self.quarantine, "Hold a capability back from readers because it may do harm."),
            ("restore", self.restore, "Restore a deprecated, retired or quarantined capability."),
            ("discard-draft", self.discard_draft, "Discard a draft; it is kept for 30 days."),
        ):
            _note(self.verb(verbs, name, handler, words, "capability_id"))
        words = "Take a capability from readers; its tool names become free."
        parser = self.verb(verbs, "retire", self.retire, words, "capability_id")
        parser.add_argument("--dry-run", action="store_true", help="only say which capabilities need it")
        _note(parser)

    def validate(self, options: dict[str, Any]) -> int:
        read = _read_all(options["paths"])
        unreadable = read.unreadable
        checked = batch.validate_all(read.sources)
        errors = sum(len(entry.report.errors) for entry in checked)
        warnings = sum(len(entry.report.warnings) for entry in checked)
        if options["format"] == "sarif":
            self.document(sarif.build_sarif(checked))
        elif options["format"] == "json":
            bundles = read.in_order([entry.as_dict() for entry in checked], _unread)
            self.document({"bundles": bundles, "errors": errors + len(unreadable), "warnings": warnings})
        else:
            paint = TerminalStyle(sys.stdout)
            self.lines(line for entry in checked for line in format_validation(entry, paint))
        self._print_unreadable(unreadable, options)
        return 1 if errors or unreadable else 0

    def powers(self, options: dict[str, Any]) -> int:
        what = options["what"]
        if Path(what).exists():
            if options["draft"]:
                return self.report_usage_error("--draft goes with the id of a capability", options)
            rows = batch.list_powers(read_bundle(what))
        else:
            rows = [bundle_powers.get_powers(queries.get_capability(what), draft=options["draft"])]
        paint = TerminalStyle(sys.stdout)
        words = [line for row in rows for line in text_output.format_bundle_powers(row, paint)]
        return self.tell({"bundles": [row.as_dict() for row in rows]}, words, options)

    def _print_unreadable(self, unreadable: Sequence[SourceUnreadable], options: dict[str, Any]) -> None:
        for error in unreadable:
            if options["format"] != "json":
                self.complain(error)

    def publish(self, options: dict[str, Any]) -> int:
        if bool(options["paths"]) == bool(options["draft"]):
            return self.report_usage_error("Name bundles to publish, or drafts with --draft ID", options)
        if options["draft"]:
            results = batch.publish_drafts(options["draft"], **pick(options, "note", "acknowledge", "dry_run"))
            return self._report_results(results, options)
        read = _read_all(options["paths"])
        results = batch.publish_all(read.sources, **pick(options, "note", "acknowledge", "dry_run"))
        return self._report_results(results, options, read)

    def import_(self, options: dict[str, Any]) -> int:
        if options["acknowledge"] and options["mode"] != "publish":
            return self.report_usage_error("--acknowledge goes with --publish", options)
        if options["as_id"] and len(options["paths"]) > 1:
            return self.report_usage_error("--as-id goes with one SOURCE", options)
        if options["watch"]:
            return self._watch(options)
        if options["credential"] and not all(map(is_git_url, options["paths"])):
            return self.report_usage_error("--credential goes with addresses of git", options)
        read = _read_all(options["paths"], partial(_discover, credential=options["credential"]))
        if options["as_id"] and not read.unreadable:
            read = _Read([*with_id(read.sources, options["as_id"])])
        results = batch.import_all(read.sources, **pick(options, "mode", "note", "acknowledge"))
        return self._report_results(results, options, read)

    def _watch(self, options: dict[str, Any]) -> int:
        folder = Path(options["paths"][0])
        is_other = options["mode"] == "publish" or options["as_id"]
        if len(options["paths"]) > 1 or is_other or not folder.is_dir():
            return self.report_usage_error("--watch takes one folder, and makes drafts", options)
        watch = FolderWatcher(folder, terminal_actor(), options["note"])
        self.line(f"Watching {escape_controls(str(folder))}: each save becomes the draft. Ctrl+C ends it.")
        complaint = ""
        with contextlib.suppress(KeyboardInterrupt):
            while True:
                complaint = self._look(watch, options, complaint)
                close_old_connections()
                time.sleep(POLL_SECONDS)
        return 0

    def _look(self, watch: FolderWatcher, options: dict[str, Any], complaint: str) -> str:
        """Print what was saved; the next save may fix what was refused. The last error is printed once."""
        try:
            saved = watch.look()
        except RegistryError as error:
            if str(error) != complaint:
                self.complain(error)
            return str(error)
        for one in saved:
            self._report_results([one.result], options)
            if one.discarded_by:
                self.line(
                    f"  the draft that {escape_controls(one.discarded_by)} saved was discarded; it is kept for 30 days"
                )
        sys.stdout.flush()
        return "" if saved else complaint

    def _report_results(self, results: list[BatchResult], options: dict[str, Any], read: _Read | None = None) -> int:
        unreadable = read.unreadable if read else []
        if options["format"] == "json":
            rows = [result.as_dict() for result in results]
            self.document({"results": read.in_order(rows, _unread_result) if read else rows})
        else:
            for result in results:
                self._print_result(result, with_diff=bool(options.get("dry_run")))
            self._print_held(results)
        self._print_unreadable(unreadable, options)
        return 1 if unreadable or any(result.status == "refused" for result in results) else 0

    def _print_held(self, results: list[BatchResult]) -> None:
        """What waits for a decision, with the command that decides it."""
        waiting = [one.capability_id for one in results if any(finding.code == "SEC_HELD" for finding in one.findings)]
        if waiting:
            count = "1 bundle waits" if len(waiting) == 1 else f"{len(waiting)} bundles wait"
            self.line(f"{count} for a decision about passages, in the Studio or by a person at this server:")
            self.line(f"  {describe_command(waiting)}")

    def _print_result(self, result: BatchResult, *, with_diff: bool) -> None:
        paint = TerminalStyle(sys.stdout)
        for finding in result.findings:
            self.lines(format_findings(finding, result.path, result.files, paint))
        if result.gate is not None:
            self.lines(text_output.format_changes(result.gate.changes, paint))
            self.lines(text_output.format_powers(result.powers, paint) if result.powers else ())
            for diff in result.gate.diffs if with_diff else ():
                self.lines(text_output.format_diff(diff.lines, paint))
        self.line(_result_words(result, paint))
        if result.gate is not None and result.gate.to_acknowledge:
            codes = " ".join(f"--acknowledge {code}" for code in result.gate.to_acknowledge)
            self.line(f"  {paint('hint', 'hint:')} if that is meant, publish again with {codes}")

    def list(self, options: dict[str, Any]) -> int:
        rows = queries.list_capabilities()
        fields = ("capability_id", "name", "status", "revision", "digest")
        width = max((len(row.capability_id) for row in rows), default=0)
        lines = []
        for row in rows:
            revision = f"revision {row.revision}" if row.revision else "never published"
            draft = ", draft" if row.has_draft else ""
            lines.append(f"{row.capability_id:<{width}}  {row.status:<10}  {revision}{draft}  {row.name}")
        words = lines or "No capabilities yet. Publish one: bundle publish examples/weights"
        return self.tell({"capabilities": [{key: getattr(row, key) for key in fields} for row in rows]}, words, options)

    def export(self, options: dict[str, Any]) -> int:
        if bool(options["capability_id"]) == options["all"] or (options["all"] and options["draft"]):
            return self.report_usage_error("Name one capability, or --all; --draft goes with one", options)
        target = Path(options["to"])
        format_: exporter.Format = "agent-skill" if options["format"] == "agent-skill" else "bundle"
        try:
            return (
                self._export_all(target, format_, options) if options["all"] else self._export(target, format_, options)
            )
        except OSError as error:
            raise SourceUnreadable(f"{target}: {error.strerror or error}") from None

    def _export(self, target: Path, format_: exporter.Format, options: dict[str, Any]) -> int:
        capability = queries.get_capability(options["capability_id"])
        done = exporter.export_capability(capability, format_=format_, draft=options["draft"])
        exporter.write_export(done, target)
        document = {"capability_id": done.capability_id, "path": str(target), "files": sorted(done.files)}
        document |= {"files_digest": get_files_digest(dict(done.files))} if format_ == "bundle" else {}
        return self.tell(document, f"{done.capability_id}: written to {target}", options)

    def _export_all(self, target: Path, format_: exporter.Format, options: dict[str, Any]) -> int:
        target.mkdir(parents=True, exist_ok=True)
        folders = {}
        for done in exporter.export_all(format_=format_):
            exporter.write_export(done, target / done.folder)
            folders[done.folder] = done.capability_id
        others = exporter.unmanaged_folders(target, set(folders))
        document = {"path": str(target), "capabilities": list(folders.values()), "not_in_the_registry": others}
        words = f"{len(folders)} capabilities written to {target}"
        left = f". Not in the registry, and left alone: {', '.join(others)}" if others else ""
        return self.tell(document, words + left, options)

    def rollback(self, options: dict[str, Any]) -> int:
        outcome = publication.rollback(**pick(options, "capability_id", "to", "note", "acknowledge"))
        return self._report_results([batch.build_result(outcome, options["capability_id"])], options)

    def restore(self, options: dict[str, Any]) -> int:
        outcome = publication.restore(**pick(options, "capability_id", "note"))
        return self._report_results([batch.build_result(outcome, options["capability_id"])], options)

    def deprecate(self, options: dict[str, Any]) -> int:
        return self._status(publication.deprecate(**pick(options, "capability_id", "replaced_by", "note")), options)

    def visibility(self, options: dict[str, Any]) -> int:
        publication.set_visibility(**pick(options, "capability_id", "visibility", "note"))
        row = {key: options[key] for key in ("capability_id", "visibility")}
        return self.tell(row, "{capability_id}: {visibility}".format_map(row), options)

    def retire(self, options: dict[str, Any]) -> int:
        effects = get_retirement_effects(options["capability_id"])
        capability = publication.retire(**pick(options, "capability_id", "note", "dry_run"))
        return self._status(capability, options, effects)

    def quarantine(self, options: dict[str, Any]) -> int:
        return self._status(quarantine(**pick(options, "capability_id", "note")), options)

    def discard_draft(self, options: dict[str, Any]) -> int:
        drafts.discard_draft(**pick(options, "capability_id", "note"))
        document = {"capability_id": options["capability_id"], "status": "discarded"}
        return self.tell(document, f"{options['capability_id']}: draft discarded, kept for 30 days", options)

    def _status(self, capability: Capability, options: dict[str, Any], effects: RetirementEffects | None = None) -> int:
        replaced_by = capability.replaced_by.capability_id if capability.replaced_by else None
        document: dict[str, Any] = {"capability_id": capability.capability_id, "status": capability.status}
        document["replaced_by"] = replaced_by
        words = f"{capability.capability_id}: {capability.status}"
        words += f", replaced by {replaced_by}" if replaced_by else ""
        document |= effects.as_dict() if effects is not None else {}
        return self.tell(document, [words, *_list_effects(document)], options)


def _note(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--note", default="", help="why, for the history")


@dataclass(frozen=True)
class _Read:
    """What the arguments led to, in their order."""

    found: list[SourceBundle | SourceUnreadable]

    @property
    def sources(self) -> list[SourceBundle]:
        return [each for each in self.found if isinstance(each, SourceBundle)]

    @property
    def unreadable(self) -> list[SourceUnreadable]:
        return [each for each in self.found if isinstance(each, SourceUnreadable)]

    def in_order(self, rows: list[ResultRow], unread: Callable[[SourceUnreadable], ResultRow]) -> list[ResultRow]:
        """The rows of the sources with those of what could not be read between them."""
        done = iter(rows)
        return [unread(each) if isinstance(each, SourceUnreadable) else next(done) for each in self.found]


def _read_all(paths: Sequence[str], read: Callable[[str], list[SourceBundle]] = read_bundle) -> _Read:
    found: list[SourceBundle | SourceUnreadable] = []
    for path in paths:
        try:
            found += read(path)
        except SourceUnreadable as error:
            error.extra["path"] = redact_address(path)
            found.append(error)
    return _Read(found)


def _discover(path: str, credential: str) -> list[SourceBundle]:
    """What is at a path or an address, which the credential of this name is for."""
    login = open_login(path, credential, terminal_actor()) if is_git_url(path) else (path, None)
    return discover_source(*login)


def _source_finding(error: SourceUnreadable) -> Finding:
    path = str(error.extra["path"])
    # Of a folder and of an address the message says what is wrong with it.
    is_right = is_git_url(path) or Path(path).is_dir()
    hint = "" if is_right else "Name a folder or an archive."
    return Finding(error.code, "error", "", "", None, None, error.message, hint)


def _list_effects(document: dict[str, Any]) -> list[str]:
    """What a retirement affects beside readers, one line each."""
    words = {
        "needed_by": "needed by {}: their instructions may hand over to it",
        "ends_release": "the release scheduled for {} ends with it",
        "followed_from": "comes from {}: what is new there is a draft from now on",
    }
    found = {key: document[key] for key in words if key in document}
    lists = {key: [value] if isinstance(value, str) else value for key, value in found.items()}
    return [f"  {words[key].format(', '.join(value))}" for key, value in lists.items()]


def _unread(error: SourceUnreadable) -> dict[str, Any]:
    findings = [_source_finding(error).as_dict()]
    return {"path": error.extra["path"], "capability_id": None, "ok": False, "findings": findings}


def _unread_result(error: SourceUnreadable) -> dict[str, Any]:
    findings = (_source_finding(error),)
    return BatchResult(error.extra["path"], "", "refused", None, None, findings, files={}).as_dict()


def _result_words(result: BatchResult, paint: TerminalStyle) -> str:
    name = escape_controls(result.capability_id or result.path)
    words = {
        "published": paint("good", f"published, revision {result.revision}"),
        "unchanged": f"already up to date, revision {result.revision}",
        "draft": paint("good", "stored as a draft") + f" ({format_summary(result.findings)})",
        "refused": paint("error", "refused") + f" ({format_summary(result.findings)})",
        "would_publish": paint("good", "would be published"),
    }
    return f"{name}: {words[result.status]}"
