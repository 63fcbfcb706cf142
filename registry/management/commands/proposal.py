"""`manage.py proposal`: what agents have submitted for review (docs/feedback.md)."""

from __future__ import annotations

from typing import Any

from capability_rules.output.text import format_summary
from registry.cli.command import SubcommandBase, format_moment, terminal_actor
from registry.models import Proposal
from registry.publishing import proposals

STATUSES = ("draft", "published", "rejected", "superseded")


class Command(SubcommandBase):
    help = "Look at what agents propose; make a proposal the draft, or decline it."

    def add_verbs(self, verbs: Any) -> None:
        parser = self.verb(verbs, "list", self.list, "List proposals, the newest first.")
        parser.add_argument("--status", choices=[*STATUSES, "all"], default="draft", help="draft: not decided on yet")
        parser.add_argument("--limit", type=int, default=100)
        self.verb(verbs, "show", self.show, "Show a proposal with its findings and what it is alike to.", "id")
        for name, handler, words in (
            ("accept", self.accept, "Make it the draft; another draft is discarded and kept for 30 days."),
            ("reject", self.reject, "Decline it; the note is for the proposer."),
        ):
            parser = self.verb(verbs, name, handler, words, "id")
            parser.add_argument("--note", default="")

    def list(self, options: dict[str, Any]) -> int:
        status = "" if options["status"] == "all" else options["status"]
        found = [_row(each) for each in proposals.list_proposals(status=status, limit=max(0, options["limit"]))]
        return self.tell({"proposals": found}, map(_line, found), options)

    def show(self, options: dict[str, Any]) -> int:
        proposal = proposals.get_proposal(options["id"])
        row, found = _row(proposal), proposals.validate_proposal(proposal).findings
        lines = [f"{key}: {value}" for key, value in row.items() if value not in (None, "", [])]
        lines.append(f"findings: {format_summary(found)}")
        lines += [f"  {each.severity}[{each.code}] {each.file}{each.pointer}: {each.message}" for each in found]
        for name, text in proposal.files.items():
            lines += [f"--- {name}", *(f"  {line}" for line in text.splitlines())]
        document = {**row, "findings": [finding.as_dict() for finding in found], "files": proposal.files}
        return self.tell(document, lines, options)

    def accept(self, options: dict[str, Any]) -> int:
        draft = proposals.accept_proposal(proposal_id=options["id"], by=terminal_actor(), note=options["note"])
        capability_id = draft.capability.capability_id
        words = f"{capability_id}: draft {draft.version}. Publish it with: bundle publish --draft {capability_id}"
        return self.tell({"capability_id": capability_id, "draft_version": draft.version}, words, options)

    def reject(self, options: dict[str, Any]) -> int:
        proposal = proposals.reject_proposal(proposal_id=options["id"], by=terminal_actor(), note=options["note"])
        return self.tell(_row(proposal), f"{proposal.proposal_id}: rejected", options)


def _row(proposal: Proposal) -> dict[str, Any]:
    return {
        "proposal_id": str(proposal.proposal_id),
        "capability_id": proposal.capability.capability_id,
        "status": proposal.status,
        "key": proposal.key_name,
        "note": proposal.note,
        "created_at": format_moment(proposal.created_at),
        "near_duplicates": proposal.near_duplicates,
        "decided_at": format_moment(proposal.decided_at),
        "decided_by": proposal.decided_by,
        "decision_note": proposal.decision_note,
        "revision": proposal.published_revision,
    }


def _line(row: dict[str, Any]) -> str:
    near = ", ".join(each["capability_id"] for each in row["near_duplicates"])
    line = "{proposal_id}  {created_at}  {capability_id}  {status}  {key}".format_map(row)
    return f"{line}  like {near}" if near else line
