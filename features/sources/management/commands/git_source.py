"""`manage.py git_source`: repositories and other registries that are followed (docs/gitops.md)."""

from __future__ import annotations

import itertools
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.conf import settings

from capability_rules.errors import InvalidRequest
from features.sources import drift as source_drift
from features.sources import push_webhooks, source_sync
from features.sources.models import GitSource, GitSourceItem
from features.sources.source_sync import EVERY_MINUTES_MIN, SyncSettings
from registry.cli.command import SubcommandBase, format_moment, terminal_actor


class Command(SubcommandBase):
    help = "Follow git repositories and other registries: what changes there becomes a draft here, or is published."

    def add_verbs(self, verbs: Any) -> None:
        parser = self.verb(verbs, "add", self.add, "Follow a repository or a registry; a worker looks again and again.")
        parser.add_argument("url", metavar="URL", help="https://host/repository, or the address of another registry")
        parser.add_argument("--branch", default="", metavar="NAME", help="a branch or a tag; default: its own")
        parser.add_argument("--folder", default="", metavar="PATH", help="only what is below it")
        parser.add_argument("--registry", action="store_true", help="URL is another Capability Studio")
        parser.add_argument("--credential", default="", metavar="NAME", help="of a private repository")
        _add_ways(parser)
        self.verb(verbs, "list", self.list, "List all sources, with what became of the last look.")
        for name, handler, words in (
            ("change", self.change, "Follow it in another way; what is left out stays as it is."),
            ("sync", self.sync, "Look at it now; exit 1 where something was refused."),
            ("drift", self.drift, "Say where the source and the registry differ; exit 1 where they do."),
            (
                "secret",
                self.secret,
                "Make a new secret for the pushes of its git host, or keep that of a registry.",
            ),
            ("remove", self.remove, "Stop following it; what was imported stays."),
        ):
            parser = self.verb(verbs, name, handler, words)
            parser.add_argument("id", type=int, metavar="ID")
            if name == "change":
                _add_ways(parser)
                parser.add_argument("--credential", metavar="NAME", help="of a private repository; an empty name: none")
            if name == "secret":
                choice = parser.add_mutually_exclusive_group()
                choice.add_argument("--drop", action="store_true", help="take nothing more at that address")
                choice.add_argument(
                    "--end-old", action="store_true", help="take nothing more signed with the old secret"
                )
                more = "of another registry: read the secret of its webhook from stdin"
                choice.add_argument("--given-stdin", action="store_true", help=more)

    def add(self, options: dict[str, Any]) -> int:
        ways: dict[str, Any] = {
            "mode": options["mode"] or "draft",
            "every_minutes": options["every"] or 60,
            "by": terminal_actor(),
        }
        if options["registry"]:
            if options["branch"] or options["folder"]:
                raise InvalidRequest("Another registry has neither a branch nor a folder")
            more: dict[str, Any] = {"read_key": _key(options) or "", "may_adopt": bool(options["may_adopt"])}
            source = source_sync.add_registry(url=options["url"], **ways, **more)
        else:
            if options["key_stdin"] or options["may_adopt"] is not None:
                raise InvalidRequest("--key-stdin, --adopt and --leave are for another registry: add --registry")
            branch = f"@{options['branch']}" if options["branch"] else ""
            folder = f"#{options['folder']}" if options["folder"] else ""
            spec = f"{options['url']}{branch}{folder}"
            source = source_sync.add_git_source(spec=spec, credential=options["credential"], **ways)
        words = f"git source {source.pk}: {source.spec}, every {source.every_minutes} minutes"
        if source.credential is not None:
            words += f", with the credential '{source.credential.name}'"
        return self.tell(_row(source), words, options)

    def change(self, options: dict[str, Any]) -> int:
        source = source_sync.get_source(options["id"])
        following = SyncSettings(
            options["mode"] or source.mode,
            options["every"] or source.every_minutes,
            source.may_adopt if options["may_adopt"] is None else options["may_adopt"],
        )
        source = source_sync.update_source(
            source_id=options["id"],
            following=following,
            by=terminal_actor(),
            read_key=_key(options),
            credential=options["credential"],
        )
        return self.tell(_row(source), f"git source {source.pk}: {source.mode}, every {source.every_minutes}", options)

    def secret(self, options: dict[str, Any]) -> int:
        if options["drop"]:
            source = push_webhooks.delete_secret(source_id=options["id"], by=terminal_actor())
            return self.tell({"id": source.pk, "secret": None}, f"{source.spec}: nothing is taken there now", options)
        if options["end_old"]:
            source = push_webhooks.expire_previous_secret(source_id=options["id"], by=terminal_actor())
            ended = {"id": source.pk, "old_secret_until": None}
            return self.tell(ended, f"{source.spec}: the old secret is void", options)
        if options["given_stdin"]:
            given = sys.stdin.readline()
            source = push_webhooks.set_secret(source_id=options["id"], secret=given, by=terminal_actor())
            address = f"{settings.PUBLIC_URL or ''}{push_webhooks.push_url(source)}"
            words = f"{address} accepts what {source.spec} sends{_old_secret_words(source)}"
            return self.tell({"id": source.pk, "address": address} | _old_secret(source), words.splitlines(), options)
        source, secret = push_webhooks.create_push_secret(source_id=options["id"], by=terminal_actor())
        address = f"{settings.PUBLIC_URL or ''}{push_webhooks.push_url(source)}"
        row = {"id": source.pk, "address": address, "secret": secret} | _old_secret(source)
        words = f"address  {address}\nsecret   {secret}  (shown this once){_old_secret_words(source)}"
        return self.tell(row, words.splitlines(), options)

    def list(self, options: dict[str, Any]) -> int:
        sources = source_sync.list_sources()
        rows = [_row(source) for source in sources]
        return self.tell({"git_sources": rows}, itertools.chain.from_iterable(map(_lines, rows)), options)

    def sync(self, options: dict[str, Any]) -> int:
        synced = source_sync.sync_source(source_id=options["id"], by=terminal_actor())
        rows = [_item(item) for item in synced.taken]
        lines = [f"{_name(row)}  {row['status']}{row['detail'] and ': '}{row['detail']}" for row in rows]
        lines.append(f"{len(rows)} imported, {synced.unchanged} unchanged, at {_short(synced.commit)}")
        self.tell({"commit": synced.commit, "taken": rows, "unchanged": synced.unchanged}, lines, options)
        return 1 if any(row["status"] == "refused" for row in rows) else 0

    def drift(self, options: dict[str, Any]) -> int:
        keys = ("capability_id", "path", "difference", "words")
        found = source_drift.compare_with_source(options["id"])
        rows = [{key: getattr(entry, key) for key in keys} for entry in found]
        lines = [f"{_name(row)}  {row['difference']}: {row['words']}" for row in rows]
        self.tell({"drift": rows}, lines or "The source and the registry agree", options)
        return 1 if rows else 0

    def remove(self, options: dict[str, Any]) -> int:
        source = source_sync.remove_source(source_id=options["id"], by=terminal_actor())
        return self.tell({"removed": source.spec}, f"{source.spec}: no longer followed", options)


def _old_secret(source: GitSource) -> dict[str, Any]:
    return {"old_secret_until": format_moment(source.previous_hook_secret_until if source.has_two_secrets else None)}


def _old_secret_words(source: GitSource) -> str:
    until = _old_secret(source)["old_secret_until"]
    return (
        f"\nThe old secret is taken until {until}; end it now with: git_source secret {source.pk} --end-old"
        if until
        else ""
    )


def _add_ways(parser: ArgumentParser) -> None:
    modes = parser.add_mutually_exclusive_group()
    modes.add_argument("--draft", dest="mode", action="store_const", const="draft", help="as drafts, the default")
    modes.add_argument("--publish", dest="mode", action="store_const", const="publish")
    words = f"how often, at least {EVERY_MINUTES_MIN}; default 60"
    parser.add_argument("--every", type=int, metavar="MINUTES", help=words)
    parser.add_argument("--key-stdin", action="store_true", help="read an agent key of the other registry from stdin")
    adopting = parser.add_mutually_exclusive_group()
    words = "take over what is here already and came from elsewhere"
    adopting.add_argument("--adopt", dest="may_adopt", action="store_true", default=None, help=words)
    words = "leave it alone, the default for a registry"
    adopting.add_argument("--leave", dest="may_adopt", action="store_false", default=None, help=words)


def _key(options: dict[str, Any]) -> str | None:
    return sys.stdin.readline().strip() if options["key_stdin"] else None


def _lines(row: dict[str, Any]) -> Iterator[str]:
    state = f"at {_short(row['commit'])}, read {row['looked_at']}" if row["looked_at"] else "not read yet"
    if row["failures"]:
        state = f"failed {row['failures']} times: {row['last_error']}"
    yield f"{row['id']}  {row['source']}  {row['mode']}  {state}"
    for item in row["bundles"]:
        if item["detail"]:
            yield f"   {item['status']}  {_name(item)}: {item['detail']}"


def _name(row: dict[str, Any]) -> str:
    return str(row["capability_id"] or row["path"])


def _short(commit: str) -> str:
    return commit if commit.startswith("revision ") else commit[:12]


def _row(source: GitSource) -> dict[str, Any]:
    return {
        "id": source.pk,
        "kind": source.kind,
        "source": source.spec,
        "mode": source.mode,
        "may_adopt": source.may_adopt,
        "every_minutes": source.every_minutes,
        "has_key": bool(source.read_key),
        "credential": source.credential.name if source.credential is not None else None,
        "has_secret": bool(source.hook_secret),
        **_old_secret(source),
        "last_push": {"at": format_moment(source.pushed_at), "words": source.push_result} if source.pushed_at else None,
        "commit": source.commit,
        "looked_at": format_moment(source.last_synced_at),
        "failures": source.failures,
        "last_error": source.last_error,
        "bundles": [_item(item) for item in source.items.all()],
    }


def _item(item: GitSourceItem) -> dict[str, Any]:
    return {
        "path": item.path,
        "capability_id": item.capability_id or None,
        "status": item.status,
        "there": item.upstream_state,
        "detail": item.detail,
        "taken_at": format_moment(item.imported_at),
    }
