"""The verb of `manage.py bundle` that stores what an outside scanner found (docs/contract.md 5)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from capability_rules.errors import SourceUnreadable
from capability_rules.validation.sarif_reader import BYTES_MAX, parse_sarif
from registry.cli.command import SubcommandBase, pick
from registry.publishing import scan_results


class ScanVerbs(SubcommandBase):
    """Adds the verb `scan-results` to a command: keep what scanners have found in a bundle."""

    def add_scan_verbs(self, verbs: Any) -> None:
        words = "Store what a scanner found in a draft or a revision, as SARIF 2.1.0."
        parser = self.verb(verbs, "scan-results", self.scan_results, words, "capability_id")
        parser.add_argument("file", metavar="FILE", help="the SARIF log, at most 1 MiB")
        parser.add_argument("--digest", metavar="DIGEST", help="files_digest of what was scanned; default: the draft's")
        parser.add_argument("--below", default="", metavar="FOLDER", help="the folder that the log's paths begin with")

    def scan_results(self, options: dict[str, Any]) -> int:
        log = parse_sarif(_read_bounded(options["file"]))
        stored = scan_results.store_scan_results(log=log, **pick(options, "capability_id", "digest", "below"))
        return self.tell(stored.as_dict(), list(_scan_lines(stored.as_dict())), options)


def _read_bounded(path: str) -> bytes:
    """At most one byte more than is taken. Raises `SourceUnreadable`."""
    try:
        with Path(path).open("rb") as file:
            return file.read(BYTES_MAX + 1)
    except OSError as error:
        raise SourceUnreadable(f"{path}: {error.strerror or error}") from None


def _scan_lines(row: dict[str, Any]) -> Iterator[str]:
    yield f"{row['capability_id']}: stored for the texts {row['files_digest']}"
    for tool in row["tools"]:
        counts = ", ".join(f"{kind} {tool[kind]}" for kind in ("errors", "warnings", "notes", "suppressed"))
        yield f"  {tool['tool']} {tool['version']}".rstrip() + f": {counts}"
