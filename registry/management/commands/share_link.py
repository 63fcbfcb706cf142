"""`manage.py share_link`: links for clients that can send no key (docs/contract.md 5)."""

from __future__ import annotations

from typing import Any

from registry.access import share_links
from registry.cli.command import SubcommandBase, is_terminal
from registry.cli.text_output import escape_controls
from registry.models import ShareLink


class Command(SubcommandBase):
    help = "Create, list and revoke share links."

    def add_verbs(self, verbs: Any) -> None:
        parser = self.verb(verbs, "create", self.create, "Make a link and print it, this once.")
        parser.add_argument("name")
        parser.add_argument("--group", default="", metavar="ID", help="only the capabilities of this skill group")
        parser.add_argument("--days", type=int, metavar="N", help="until then; without it until it is revoked")
        self.verb(verbs, "list", self.list, "List all links; the links themselves are not kept.")
        parser = self.verb(verbs, "revoke", self.revoke, "End a link.")
        parser.add_argument("name")

    def create(self, options: dict[str, Any]) -> int:
        row, url = share_links.create_link(
            name=options["name"], skill_group=options["group"], days=options["days"], by=is_terminal()
        )
        if options["format"] == "json":
            self.document({**_row(row), "url": url})
        else:
            self.line(url)
        return 0

    def list(self, options: dict[str, Any]) -> int:
        rows = [_row(link) for link in ShareLink.objects.all()]
        if options["format"] == "json":
            self.document({"share_links": rows})
            return 0
        for row in rows:
            shown = row["group"] or "everything"
            state = "revoked" if row["revoked_at"] else f"until {row['expires_at'] or 'it is revoked'}"
            self.line(f"{escape_controls(row['name'])}  {row['hint']}…  {shown}  {state}")
        return 0

    def revoke(self, options: dict[str, Any]) -> int:
        row = share_links.revoke_link(name=options["name"], by=is_terminal())
        if options["format"] == "json":
            self.document(_row(row))
        else:
            self.line(f"{escape_controls(row.name)}: revoked")
        return 0


def _row(link: ShareLink) -> dict[str, Any]:
    times = {"created_at": link.created_at, "expires_at": link.expires_at, "revoked_at": link.revoked_at}
    shown = {name: time.isoformat(timespec="seconds") if time else None for name, time in times.items()}
    return {"name": link.name, "hint": link.token_prefix, "group": link.skill_group or None, **shown}
