"""How each client comes in: the rows of `clients.toml`, filled in for a reader, and as the table of README.md."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.utils.translation import gettext_lazy

from features.sets.marketplace import marketplace_name

TITLES: Final = {
    "tools": gettext_lazy("Tools and skills on demand"),
    "plugin": gettext_lazy("The set as a plugin"),
    "update": gettext_lazy("Its next version, later"),
    "skills": gettext_lazy("Skills into a project"),
    "account": gettext_lazy("As the address of a custom connector, by one's own account"),
    "connector": gettext_lazy("As the address of a custom connector, without authentication"),
    "file": gettext_lazy("Into the client's mcp.json"),
    "python": gettext_lazy("In Python"),
    "http": gettext_lazy("Plain HTTP"),
}
_FILE: Final = Path(__file__).parent / "clients.toml"
# What stands where a value is not known yet.
KEY: Final = "KEY"
LINK: Final = "LINK"
_LOCAL: Final = "http://127.0.0.1:8000"


@dataclass(frozen=True, slots=True)
class Way:
    """One way into a client; `title` is a key of `TITLES`, `needs` are words of `key`, `link`, `set`, `https`,
    `account`, and `form` is the plugin that it gets. `open` is the line below a share link, which needs no key. For a
    reader `line` is filled in, and `needs` are those that neither the address nor the choice of a set meets."""

    title: str
    line: str
    needs: tuple[str, ...]
    form: str
    open: str


@dataclass(frozen=True, slots=True)
class Client:
    """One client; `can` has `forms`, `approvals` and `withdrawal` as `yes`, `text`, `later` or `no`, and `tried` the
    version that was run against this registry, empty where none was."""

    id: str
    name: str
    can: Mapping[str, str]
    source: str
    date: date
    tried: str
    ways: tuple[Way, ...]


@dataclass(frozen=True, slots=True)
class ReaderAddress:
    """What is known of a reader: empty texts are filled with words such as `KEY`."""

    base_url: str
    link: str = ""
    key: str = ""
    set_id: str = ""
    # The set that the share link shows alone.
    shared_set: str = ""


@cache
def list_clients() -> tuple[Client, ...]:
    """The clients in the order of the file."""
    return tuple(_client(row) for row in _read()["client"])


def plugin_clients() -> Mapping[str, str]:
    """Who takes a plugin, by its form."""
    forms: Mapping[str, str] = _read()["forms"]
    return forms


@cache
def _read() -> dict[str, Any]:
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


def _client(row: Mapping[str, Any]) -> Client:
    ways = [
        Way(way["way"], way["line"].strip(), tuple(way["needs"]), way.get("form", ""), way.get("open", ""))
        for way in row["way"]
    ]
    facts = {name: row[name] for name in ("id", "name", "can", "source", "date", "tried")}
    return Client(**facts, ways=tuple(ways))


def fill_ways(client: Client, reader: ReaderAddress) -> list[Way]:
    """Every way of a client, with the reader's values in its line; by a link alone those that need no key."""
    ways = client.ways
    if reader.link or "oauth" not in settings.FEATURES:
        ways = tuple(way for way in ways if "account" not in way.needs)
    if reader.link and not reader.key:
        ways = tuple(_opened(way) for way in ways if way.open or "key" not in way.needs)
    return [_fill(way, reader) for way in ways]


def _opened(way: Way) -> Way:
    needs = tuple("link" if need == "key" else need for need in way.needs)
    return replace(way, line=way.open or way.line, needs=needs)


def _fill(way: Way, reader: ReaderAddress) -> Way:
    base = reader.base_url
    link = reader.link or (LINK if "link" in way.needs else "")
    plugin = reader.set_id.replace("_", "-") or "SET"
    values = {
        "base": base,
        "link": link,
        "key": reader.key or KEY,
        "mcp": f"{link}/mcp" if "link" in way.needs else f"{base}/mcp",
        "plugin": plugin,
        "server": plugin if reader.link and reader.shared_set else "capability-studio",
        "marketplace": marketplace_name(base, reader.shared_set),
        "zip": f"{link}/sets/{reader.set_id or 'SET'}/latest/{way.form}.zip",
    }
    met = {"key": reader.key, "link": reader.link, "set": reader.set_id, "https": base.startswith("https://")}
    missing = tuple(need for need in way.needs if not met.get(need, need == "account"))
    return replace(way, line=way.line.format(**values), needs=missing)


def render_table() -> str:
    """The table of README.md: one row for each client, with its first way."""
    reader = ReaderAddress(_LOCAL)
    rows = [(client, fill_ways(client, reader)) for client in list_clients()]
    lines = ["| client | how | from |", "| --- | --- | --- |"]
    for client, ways in rows:
        how = "<br>".join(f"{TITLES[way.title]}: {_code(way.line)}" for way in ways)
        tried = f"tried with {client.tried}" if client.tried else f"by its docs, {client.date.isoformat()}"
        lines.append(f"| {client.name} | {how} | {tried} |")
    return "\n".join(lines) + "\n"


def _code(line: str) -> str:
    return "<br>".join(f"`{each}`" for each in line.splitlines()).replace("|", "\\|")
