"""`manage.py git_source`: repositories that are followed (docs/gitops.md)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from registry.imports import followed_sources
from registry.imports.followed_sources import EVERY_MINUTES_MIN
from registry.management.verbs import VerbCommand, at_terminal
from registry.models import GitSource, GitSourceItem
from registry.terminal.text import printable


class Command(VerbCommand):
    help = "Follow git repositories: what changes there becomes a draft here, or is published."

    def add_verbs(self, verbs: Any) -> None:
        parser = self.verb(verbs, "add", self.add, "Follow a repository; a worker looks at it again and again.")
        parser.add_argument("url", metavar="URL", help="https://host/repository")
        parser.add_argument("--branch", default="", metavar="NAME", help="a branch or a tag; default: its own")
        parser.add_argument("--folder", default="", metavar="PATH", help="only what is below it")
        modes = parser.add_mutually_exclusive_group()
        modes.add_argument("--draft", dest="mode", action="store_const", const="draft", default="draft")
        modes.add_argument("--publish", dest="mode", action="store_const", const="publish")
        words = f"how often, at least {EVERY_MINUTES_MIN}; default 60"
        parser.add_argument("--every", type=int, default=60, metavar="MINUTES", help=words)
        self.verb(verbs, "list", self.list, "List all sources, with what became of the last look.")
        for name, handler, words in (
            ("sync", self.sync, "Look at it now; exit 1 where something was refused."),
            ("drift", self.drift, "Say where the source and the registry differ; exit 1 where they do."),
            ("remove", self.remove, "Follow it no more; what was taken in stays."),
        ):
            self.verb(verbs, name, handler, words).add_argument("id", type=int, metavar="ID")

    def add(self, options: dict[str, Any]) -> int:
        branch = f"@{options['branch']}" if options["branch"] else ""
        folder = f"#{options['folder']}" if options["folder"] else ""
        source = followed_sources.add_source(
            spec=f"{options['url']}{branch}{folder}",
            mode=options["mode"],
            every_minutes=options["every"],
            by=at_terminal(),
        )
        words = f"git source {source.pk}: {source.spec}, every {source.every_minutes} minutes"
        return self.tell(_row(source), words, options)

    def list(self, options: dict[str, Any]) -> int:
        sources = followed_sources.list_sources()
        if options["format"] == "json":
            self.document({"git_sources": [_row(source) for source in sources]})
            return 0
        for source in sources:
            self.line(printable(f"{source.pk}  {source.spec}  {source.mode}  {_state(source)}"))
            for item in source.items.exclude(detail=""):
                self.line(printable(f"   {item.status}  {item.capability_id or item.path}: {item.detail}"))
        return 0

    def sync(self, options: dict[str, Any]) -> int:
        synced = followed_sources.sync_source(source_id=options["id"], by=at_terminal())
        if options["format"] == "json":
            rows = [_item(item) for item in synced.taken]
            self.document({"commit": synced.commit, "taken": rows, "unchanged": synced.unchanged})
        else:
            for item in synced.taken:
                more = f": {item.detail}" if item.detail else ""
                self.line(printable(f"{item.capability_id or item.path}  {item.status}{more}"))
            self.line(f"{len(synced.taken)} taken in, {synced.unchanged} as before, at {synced.commit[:12]}")
        return 1 if any(item.status == "refused" for item in synced.taken) else 0

    def drift(self, options: dict[str, Any]) -> int:
        found = followed_sources.drift(options["id"])
        if options["format"] == "json":
            keys = ("capability_id", "path", "difference", "words")
            self.document({"drift": [{key: getattr(entry, key) for key in keys} for entry in found]})
        else:
            for entry in found:
                self.line(printable(f"{entry.capability_id or entry.path}  {entry.difference}: {entry.words}"))
            if not found:
                self.line("The source and the registry agree")
        return 1 if found else 0

    def remove(self, options: dict[str, Any]) -> int:
        source = followed_sources.remove_source(source_id=options["id"], by=at_terminal())
        return self.tell({"removed": source.spec}, f"{source.spec}: followed no more", options)


def _state(source: GitSource) -> str:
    if source.failures:
        return f"failed {source.failures} times: {source.last_error}"
    return f"at {source.commit[:12]}, read {_moment(source.looked_at)}" if source.looked_at else "not read yet"


def _moment(at: datetime | None) -> str | None:
    return at.isoformat(timespec="seconds") if at else None


def _row(source: GitSource) -> dict[str, Any]:
    return {
        "id": source.pk,
        "source": source.spec,
        "mode": source.mode,
        "every_minutes": source.every_minutes,
        "commit": source.commit,
        "looked_at": _moment(source.looked_at),
        "failures": source.failures,
        "last_error": source.last_error,
        "bundles": [_item(item) for item in source.items.all()],
    }


def _item(item: GitSourceItem) -> dict[str, Any]:
    return {
        "path": item.path,
        "capability_id": item.capability_id or None,
        "status": item.status,
        "detail": item.detail,
        "taken_at": _moment(item.taken_at),
    }
