"""The verbs of `manage.py bundle` about waived findings and held passages (docs/contract.md 5)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Any

from features.acceptances import held_passages, waiver_store
from features.acceptances.models import Acceptance
from registry.cli.command import SubcommandBase, pick, terminal_actor
from registry.core import queries


class AcceptanceVerbs(SubcommandBase):
    """`waive`, `unwaive`, `waivers` and `accept`."""

    def add_acceptance_verbs(self, verbs: Any) -> None:
        self._add_accept(verbs)
        words = "Accept a finding until a day: it is shown, and blocks nothing."
        parser = self.verb(verbs, "waive", self.waive, words, "capability_id")
        parser.add_argument("code", metavar="CODE", help="of the finding, such as SEC_ENCODED_TEXT")
        parser.add_argument("--place", required=True, metavar="FILE[:LINE[:COLUMN]]", help="where it is")
        parser.add_argument("--reason", required=True, metavar="TEXT", help="why; reviewers read it")
        parser.add_argument(
            "--until", required=True, type=date.fromisoformat, metavar="YYYY-MM-DD",
            help=f"it counts again from that day on (UTC); at most {waiver_store.DAYS_MAX} days ahead",
        )  # fmt: skip
        parser = self.verb(verbs, "unwaive", self.unwaive, "End a waiver before its day.", "capability_id")
        parser.add_argument("waiver_id", metavar="NUMBER", type=int, help="as bundle waivers lists it")
        self.verb(verbs, "waivers", self.waivers, "List a capability's waivers, those that ended too.", "capability_id")

    def _add_accept(self, verbs: Any) -> None:
        words = "Decide that passages which the security checks doubt are fine."
        parser = self.verb(verbs, "accept", self.accept, words)
        parser.add_argument("capability_ids", nargs="+", metavar="ID", help="of the capability")
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--place", metavar="FILE:LINE", help="the passage at this place")
        which.add_argument("--all", action="store_true", help="every passage that waits")
        parser.add_argument("--reason", required=True, metavar="TEXT", help="why; it stays with the passage")

    def waive(self, options: dict[str, Any]) -> int:
        waiver = waiver_store.create_waiver(**pick(options, "capability_id", "code", "place", "reason", "until"))
        return self.tell(waiver_store.describe_waiver_row(waiver), _line(waiver), options)

    def unwaive(self, options: dict[str, Any]) -> int:
        waiver = waiver_store.end_waiver(**pick(options, "capability_id", "waiver_id"))
        return self.tell(waiver_store.describe_waiver_row(waiver), _line(waiver), options)

    def waivers(self, options: dict[str, Any]) -> int:
        found = waiver_store.list_waivers(queries.get_capability(options["capability_id"]))
        words = [_line(waiver) for waiver in found] or [f"{options['capability_id']}: no waivers"]
        return self.tell({"waivers": [waiver_store.describe_waiver_row(waiver) for waiver in found]}, words, options)

    def accept(self, options: dict[str, Any]) -> int:
        """Decide about the passages of each capability in turn; all of them have the one reason."""
        rows = [
            held_passages.describe_accepted(row)
            for capability_id in dict.fromkeys(options["capability_ids"])
            for row in held_passages.accept_passages(
                capability_id=capability_id, by=terminal_actor(), reason=options["reason"], place=options["place"] or ""
            )
        ]
        words = [f"{row['capability_id']}: {row['file']}:{row['line']} is fine: {row['reason']}" for row in rows]
        return self.tell({"accepted": rows}, words, options)


def _line(waiver: Acceptance) -> str:
    state = waiver.state.replace("_", " ")
    until = f"until {waiver.until}" if waiver.ended_by == "" else f"by {waiver.ended_by}"
    return f"{waiver.pk}  {state} {until}  {waiver.code} {waiver.place}  {waiver.accepted_by}: {waiver.reason}"


def describe_command(capability_ids: Iterable[str]) -> str:
    """The one command that decides about what these have held."""
    return f"bundle accept {' '.join(capability_ids)} --all --reason WHY"
