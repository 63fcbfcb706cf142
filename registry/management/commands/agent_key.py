"""`manage.py agent_key`: keys for agent runtimes (docs/contract.md 4)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from registry.access import agent_keys
from registry.cli.command import SubcommandBase, format_moment, terminal_actor
from registry.models import AgentKey


class Command(SubcommandBase):
    help = "Create, list and revoke the keys of agent runtimes."

    def add_verbs(self, verbs: Any) -> None:
        parser = self.verb(verbs, "create", self.create, "Make a key and print it, this once.", "name")
        parser.add_argument(
            "--scopes", default=",".join(agent_keys.DEFAULT_SCOPES), help=f"out of {','.join(agent_keys.SCOPES)}"
        )
        parser.add_argument("--groups", default=None, help="a,b: it knows capabilities of these skill groups alone")
        parser.add_argument("--team", default="", metavar="NAME", help="it changes what belongs to this team alone")
        words = "ID,ID: it changes and creates these capabilities alone"
        parser.add_argument("--capabilities", default=None, metavar="IDS", help=words)
        parser.add_argument("--read-only-tools", action="store_true", help="it is given no tool that writes")
        parser.add_argument("--preview", action="store_true", help="it sees drafts as if they were published")
        parser.add_argument("--expires", type=_day, default=None, help="YYYY-MM-DD: refused from that day on (UTC)")
        words = "Make a new key in the place of the old one and print it."
        parser = self.verb(verbs, "rotate", self.rotate, words, "name")
        parser.add_argument("--overlap-hours", type=int, default=0, help="the old one is taken so long beside it")
        self.verb(verbs, "list", self.list, "List all keys; the keys themselves are not kept.")
        self.verb(verbs, "revoke", self.revoke, "End a key.", "name")

    def create(self, options: dict[str, Any]) -> int:
        row, key = agent_keys.create_key(
            name=options["name"],
            by=terminal_actor(),
            scopes=_split(options["scopes"]),
            groups=_split(options["groups"]) if options["groups"] is not None else None,
            team=options["team"],
            capability_ids=_split(options["capabilities"]) if options["capabilities"] is not None else None,
            read_only_tools=options["read_only_tools"],
            preview=options["preview"],
            expires_at=options["expires"],
        )
        limit = {"team": row.team.name if row.team else None, "capabilities": row.capability_ids}
        return self.tell({"name": row.name, "scopes": row.scopes, **limit, "key": key}, key, options)

    def rotate(self, options: dict[str, Any]) -> int:
        overlap = timedelta(hours=min(options["overlap_hours"], 10_000))
        row, key = agent_keys.rotate_key(name=options["name"], by=terminal_actor(), overlap=overlap)
        until = format_moment(row.previous_until)
        return self.tell({"name": row.name, "key": key, "old_key_until": until}, key, options)

    def list(self, options: dict[str, Any]) -> int:
        rows = [_row(key) for key in AgentKey.objects.select_related("team")]
        return self.tell({"keys": rows}, map(_line, rows), options)

    def revoke(self, options: dict[str, Any]) -> int:
        row = agent_keys.revoke_key(name=options["name"], by=terminal_actor())
        revoked_at = row.revoked_at.isoformat() if row.revoked_at else None
        return self.tell({"name": row.name, "revoked_at": revoked_at}, f"{row.name}: revoked", options)


def _row(key: AgentKey) -> dict[str, Any]:
    return {
        "name": key.name,
        "hint": key.key_prefix,
        "scopes": key.scopes,
        "groups": key.groups,
        "team": key.team.name if key.team else None,
        "capabilities": key.capability_ids,
        "read_only_tools": key.read_only_tools,
        "preview": key.preview,
        "created_at": format_moment(key.created_at),
        "expires_at": format_moment(key.expires_at),
        "last_used_at": format_moment(key.last_used_at),
        "revoked_at": format_moment(key.revoked_at),
    }


def _line(row: dict[str, Any]) -> str:
    state = "revoked" if row["revoked_at"] else f"last used {row['last_used_at'] or 'never'}"
    state += f", ends {row['expires_at']}" if row["expires_at"] else ""
    return f"{row['name']}  {row['hint']}…  {','.join(row['scopes'])}{_limits(row)}  {state}"


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _day(text: str) -> datetime:
    """The beginning of a day (UTC)."""
    return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)


def _limits(row: dict[str, Any]) -> str:
    words = [f"groups {','.join(row['groups'])}"] if row["groups"] else []
    words += [f"changes team {row['team']}"] if row["team"] else []
    words += [f"changes {','.join(row['capabilities'])}"] if row["capabilities"] else []
    words += [word for word, name in (("no write tools", "read_only_tools"), ("preview", "preview")) if row[name]]
    return f"  {'; '.join(words)}" if words else ""
