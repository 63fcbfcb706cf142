"""`manage.py proposal`: what agents have submitted for review (docs/feedback.md)."""

from __future__ import annotations

from typing import Any

from registry.cli.command import SubcommandBase, is_terminal
from registry.cli.text_output import escape_controls, format_summary
from registry.models import Proposal
from registry.publishing import proposals

STATUSES = ("draft", "published", "rejected", "superseded")


class Command(SubcommandBase):
    help = "Look at what agents propose; make a proposal the draft, or decline it."

    def add_verbs(self, verbs: Any) -> None:
        parser = self.verb(verbs, "list", self.list, "List proposals, the newest first.")
        parser.add_argument("--status", choices=[*STATUSES, "all"], default="draft", help="draft: not decided on yet")
        parser.add_argument("--limit", type=int, default=100)
        parser = self.verb(verbs, "show", self.show, "Show a proposal with its findings and what it is alike to.")
        parser.add_argument("id")
        for name, handler, words in (
            ("accept", self.accept, "Make it the draft; another draft is discarded and kept for 30 days."),
            ("reject", self.reject, "Decline it; the note is for the proposer."),
        ):
            parser = self.verb(verbs, name, handler, words)
            parser.add_argument("id")
            parser.add_argument("--note", default="")

    def list(self, options: dict[str, Any]) -> int:
        status = "" if options["status"] == "all" else options["status"]
        found = [_row(each) for each in proposals.list_proposals(status=status, limit=max(0, options["limit"]))]
        if options["format"] == "json":
            self.document({"proposals": found})
            return 0
        for row in found:
            near = ", ".join(each["capability_id"] for each in row["near_duplicates"])
            line = f"{row['proposal_id']}  {row['created_at']}  {row['capability_id']}  {row['status']}  {row['key']}"
            self.line(escape_controls(f"{line}  like {near}" if near else line))
        return 0

    def show(self, options: dict[str, Any]) -> int:
        proposal = proposals.get_proposal(options["id"])
        report = proposals.validate_proposal(proposal)
        if options["format"] == "json":
            findings = [finding.as_dict() for finding in report.findings]
            self.document({**_row(proposal), "findings": findings, "files": proposal.files})
            return 0
        for key, value in _row(proposal).items():
            if value not in (None, "", []):
                self.line(f"{key}: {escape_controls(str(value))}")
        self.line(f"findings: {format_summary(report.findings)}")
        for finding in report.findings:
            self.line(
                escape_controls(
                    f"  {finding.severity}[{finding.code}] {finding.file}{finding.pointer}: {finding.message}"
                )
            )
        for name, text in proposal.files.items():
            self.line(f"--- {name}")
            for line in text.splitlines():
                self.line(f"  {escape_controls(line)}")
        return 0

    def accept(self, options: dict[str, Any]) -> int:
        draft = proposals.accept_proposal(proposal_id=options["id"], by=is_terminal(), note=options["note"])
        capability_id = draft.capability.capability_id
        if options["format"] == "json":
            self.document({"capability_id": capability_id, "draft_version": draft.version})
        else:
            self.line(
                f"{capability_id}: draft {draft.version}. Publish it with: bundle publish --draft {capability_id}"
            )
        return 0

    def reject(self, options: dict[str, Any]) -> int:
        proposal = proposals.reject_proposal(proposal_id=options["id"], by=is_terminal(), note=options["note"])
        if options["format"] == "json":
            self.document(_row(proposal))
        else:
            self.line(f"{proposal.proposal_id}: rejected")
        return 0


def _row(proposal: Proposal) -> dict[str, Any]:
    return {
        "proposal_id": str(proposal.proposal_id),
        "capability_id": proposal.capability.capability_id,
        "status": proposal.status,
        "key": proposal.key_name,
        "note": proposal.note,
        "created_at": proposal.created_at.isoformat(timespec="seconds"),
        "near_duplicates": proposal.near_duplicates,
        "decided_at": proposal.decided_at.isoformat(timespec="seconds") if proposal.decided_at else None,
        "decided_by": proposal.decided_by,
        "decision_note": proposal.decision_note,
        "revision": proposal.published_revision,
    }
