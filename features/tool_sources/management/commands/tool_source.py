"""`manage.py tool_source`: tools from OpenAPI documents, MCP servers and pasted definitions (docs/authors/apis.md)."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from capability_rules.errors import SourceUnreadable
from features.tool_sources import adoption, payloads, source_store, watch
from features.tool_sources.adoption import ToolChoice
from features.tool_sources.models import ToolSource
from features.tool_sources.readers.limits import BYTES_MAX
from features.tool_sources.tool_documents import FORMATS, build_document
from registry.authoring.capability_creation import CapabilitySpec
from registry.cli.command import SubcommandBase, add_format_choices, format_moment, terminal_actor
from registry.core import queries


class Command(SubcommandBase):
    help = "Make tools from the description of an API, and see what changes in it."

    def add_verbs(self, verbs: Any) -> None:
        parser = self.verb(verbs, "read", self.read, "Read what an API, an MCP server or a list of tools offers.")
        parser.add_argument("place", metavar="FILE|URL", help="a file, - for stdin, or an https address")
        parser.add_argument("--mcp", action="store_true", help="the address is an MCP server")
        parser.add_argument(
            "--header", default="", metavar="NAME", help="sent to the server; its value is read from stdin"
        )
        words = "what is sent to the server, as kept by: credential create"
        parser.add_argument("--credential", default="", metavar="NAME", help=words)
        parser = self.verb(verbs, "import", self.import_, "Take operations as tools into the draft of a capability.")
        parser.add_argument("id", type=int, metavar="SOURCE")
        parser.add_argument("capability_id", metavar="ID")
        words = "an operation, and the name of its tool; again for each"
        parser.add_argument("--operation", action="append", required=True, metavar="KEY[=NAME]", help=words)
        parser.add_argument("--name", default="", help="of a new capability")
        parser.add_argument("--description", default="", help="of a new capability")
        parser.add_argument("--trigger", action="append", default=[], metavar="PHRASE", help="of a new capability")
        self.verb(verbs, "list", self.list, "List the sources, with how many tools were taken and have changed.")
        parser = self.verb(verbs, "check", self.compare, "Read a source again; exit 1 where a tool differs from it.")
        parser.add_argument("id", type=int, metavar="SOURCE")
        parser.add_argument("place", nargs="?", default="", metavar="FILE", help="a newer document; - for stdin")
        parser = self.verb(verbs, "remove", self.remove, "Forget a source; the tools that were taken from it stay.")
        parser.add_argument("id", type=int, metavar="SOURCE")
        parser = self.verb(
            verbs, "export", self.export, "Print a capability's tools for MCP or as OpenAPI.", "capability_id"
        )
        add_format_choices(parser, [*FORMATS])
        parser.set_defaults(format="mcp")

    def read(self, options: dict[str, Any]) -> int:
        source = _add(options)
        document = payloads.describe_source(source)
        return self.tell(document, _source_lines(document), options)

    def import_(self, options: dict[str, Any]) -> int:
        chosen = [ToolChoice(*_split(one)) for one in options["operation"]]
        given: dict[str, Any] = {"source_id": options["id"], "chosen": chosen, "by": terminal_actor()}
        capability_id = options["capability_id"]
        if options["name"] or options["description"]:
            triggers = tuple(options["trigger"])
            wish = CapabilitySpec(capability_id, options["name"], options["description"], triggers=triggers)
            saved = adoption.create_capability(wish=wish, **given)
        else:
            saved = adoption.add_tools(capability_id=capability_id, **given)
        findings = [finding.as_dict() for finding in saved.report.findings]
        document = {"capability_id": capability_id, "draft_version": saved.version, "findings": findings}
        words = f"{capability_id}: draft {saved.version}, {len(chosen)} tools, {len(findings)} findings"
        return self.tell(document, words, options)

    def list(self, options: dict[str, Any]) -> int:
        rows = [_row(source) for source in source_store.list_sources()]
        lines = [f"{row['source_id']:>4}  {row['form']:<9}  {row['used']:>3} tools  {row['title']}" for row in rows]
        return self.tell({"sources": rows}, lines or ["no source of tools"], options)

    def compare(self, options: dict[str, Any]) -> int:
        content = _content(options["place"]) if options["place"] else None
        changed = watch.check_source(source_id=options["id"], by=terminal_actor(), content=content)
        document = payloads.describe_changes(options["id"], changed)
        self.tell(document, _change_lines(document), options)
        return 1 if changed else 0

    def remove(self, options: dict[str, Any]) -> int:
        source = source_store.remove_source(source_id=options["id"], by=terminal_actor())
        return self.tell({"source_id": options["id"]}, f"removed: {source.title}", options)

    def export(self, options: dict[str, Any]) -> int:
        bundle = queries.load_checked_bundle(queries.read_files(queries.get_capability(options["capability_id"])))
        form = next(one for one in FORMATS if one == options["format"])
        self.stdout.write(json.dumps(build_document(bundle, form), indent=2, ensure_ascii=False))
        return 0


def _add(options: dict[str, Any]) -> ToolSource:
    place, by = options["place"], terminal_actor()
    if not place.startswith(("https://", "http://")):
        return source_store.add_document(content=_content(place), by=by)
    if options["mcp"]:
        credential = options["credential"]
        value = sys.stdin.readline().strip() if options["header"] and not credential else ""
        header = {"header_name": options["header"], "header_value": value, "credential": credential}
        return source_store.add_mcp_server(url=place, by=by, **header)
    return source_store.add_address(url=place, by=by)


def _content(place: str) -> bytes:
    try:
        return sys.stdin.buffer.read(BYTES_MAX + 1) if place == "-" else Path(place).read_bytes()
    except OSError as error:
        raise SourceUnreadable(f"{place}: {error.strerror or error}") from None


def _split(operation: str) -> tuple[str, str]:
    """`GET /pets=list_pets` is the operation and the name of its tool; a key may have `=` itself."""
    key, separator, name = operation.rpartition("=")
    return (key, name) if separator and "/" not in name and "{" not in name else (operation, "")


def _source_lines(document: dict[str, Any]) -> Iterator[str]:
    yield f"source {document['source_id']}: {document['title']} ({document['form']})"
    yield from (f"  left out: {words}" for words in document["skipped"])
    for one in document["operations"]:
        lost = f"  {len(one['losses'])} differences" if one["losses"] else ""
        yield f"  {one['kind']:<5}  {one['key']}  ->  {one['name']}{lost}"


def _change_lines(document: dict[str, Any]) -> Iterator[str]:
    if not document["changed"]:
        yield "nothing has changed"
    for one in document["changed"]:
        yield f"{one['capability_id']}.{one['tool']}: {one['state']}"
        yield from (f"  {change['effect']}: {change['words']}" for change in one["changes"])


def _row(source: Any) -> dict[str, Any]:
    return {
        "source_id": source.pk,
        "title": source.title,
        "form": source.form,
        "url": source.url,
        "operations": source.tools,
        "used": source.used,
        "differing": source.differing,
        "read_at": format_moment(source.read_at),
        "last_error": source.last_error,
    }
