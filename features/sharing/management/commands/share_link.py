"""`manage.py share_link`: links for clients that can send no key (docs/contract.md 5)."""

from __future__ import annotations

from typing import Any

from features.sharing import share_links
from features.sharing.models import ShareLink
from registry.cli.command import SubcommandBase, format_moment, terminal_actor


class Command(SubcommandBase):
    help = "Create, list and revoke share links."

    def add_verbs(self, verbs: Any) -> None:
        parser = self.verb(verbs, "create", self.create, "Make a link and print it, this once.", "name")
        parser.add_argument("--group", default="", metavar="ID", help="only the capabilities of this skill group")
        parser.add_argument("--set", default="", metavar="ID", help="only the capabilities of this set")
        parser.add_argument("--days", type=int, metavar="N", help="until then; without it until it is revoked")
        self.verb(verbs, "list", self.list, "List all links; the links themselves are not kept.")
        self.verb(verbs, "revoke", self.revoke, "End a link.", "name")

    def create(self, options: dict[str, Any]) -> int:
        row, url = share_links.create_link(
            name=options["name"],
            skill_group=options["group"],
            set_id=options["set"],
            days=options["days"],
            by=terminal_actor(),
        )
        return self.tell({**_row(row), "url": url}, url, options)

    def list(self, options: dict[str, Any]) -> int:
        rows = [_row(link) for link in ShareLink.objects.all()]
        return self.tell({"share_links": rows}, map(_line, rows), options)

    def revoke(self, options: dict[str, Any]) -> int:
        row = share_links.revoke_link(name=options["name"], by=terminal_actor())
        return self.tell(_row(row), f"{row.name}: revoked", options)


def _row(link: ShareLink) -> dict[str, Any]:
    times = {"created_at": link.created_at, "expires_at": link.expires_at, "revoked_at": link.revoked_at}
    shown = {name: format_moment(time) for name, time in times.items()}
    return {
        "name": link.name,
        "hint": link.token_prefix,
        "group": link.skill_group or None,
        "set": link.set_id or None,
        **shown,
    }


def _line(row: dict[str, Any]) -> str:
    state = "revoked" if row["revoked_at"] else f"until {row['expires_at'] or 'it is revoked'}"
    shows = row["group"] or (f"set {row['set']}" if row["set"] else "everything")
    return f"{row['name']}  {row['hint']}…  {shows}  {state}"
