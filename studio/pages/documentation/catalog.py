"""Which pages of `docs/` there are, by role: what docs/README.md lists. Read once a process."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

from registry.common.installation import RESOURCES_DIR

DOCS_DIR: Final = RESOURCES_DIR / "docs"
# The first pages of folders, by the path at which docs/README.md lists them: their address is that of the folder.
_FOLDERS: Final = {"../schemas/README.md": "schemas", "agents/forms/README.md": "agents/forms"}
_HEADING: Final = re.compile(r"## (?P<title>.+)")
_ENTRY: Final = re.compile(r"- \[(?P<title>[^\]]+)\]\((?P<path>[^)#]+\.md)\)(?:: (?P<about>.+))?")
# What a page shows or links to.
_LINK: Final = re.compile(r'(?:\]\(|src="|srcset=")([^)"#\s:]+)')
_SCHEMA: Final = re.compile(r"\.\./(schemas/[\w/.-]+\.schema\.json)")
# The group that is shown first to a role; strangers come for the API.
_FIRST: Final = {
    "author": "for-authors",
    "viewer": "for-authors",
    "publisher": "for-reviewers-and-publishers",
    "admin": "for-those-who-run-it",
    "": "for-agent-developers",
}


@dataclass(frozen=True)
class DocsPage:
    """A page: `slug` is its address below `/docs/`, `path` where it is, from `docs/`, `about` a sentence or empty."""

    slug: str
    path: str
    title: str
    about: str
    text: str


@dataclass(frozen=True)
class DocsGroup:
    """The pages for one role, or on one matter."""

    key: str
    title: str
    pages: tuple[DocsPage, ...]


@cache
def list_groups() -> tuple[DocsGroup, ...]:
    """The groups in the order of docs/README.md."""
    groups: list[tuple[str, list[DocsPage]]] = []
    for line in (DOCS_DIR / "README.md").read_text("utf-8").splitlines():
        if heading := _HEADING.fullmatch(line):
            groups.append((heading["title"], []))
        elif (entry := _ENTRY.fullmatch(line)) and groups:
            path = entry["path"]
            slug = _FOLDERS.get(path) or path.removesuffix(".md")
            text = (DOCS_DIR / path).read_text("utf-8")
            about = (entry["about"] or "").replace("`", "")
            about = f"{about[0].upper()}{about[1:]}." if about else ""
            groups[-1][1].append(DocsPage(slug, path, entry["title"].replace("`", ""), about, text))
    return tuple(DocsGroup(title.lower().replace(" ", "-"), title, tuple(pages)) for title, pages in groups)


def list_groups_for(role: str) -> list[DocsGroup]:
    """The same with the group of a role first; the role is empty for those who are not signed in."""
    first = _FIRST.get(role, "")
    return sorted(list_groups(), key=lambda group: group.key != first)


@cache
def get_pages() -> dict[str, DocsPage]:
    """Every page by its slug."""
    return {page.slug: page for group in list_groups() for page in group.pages}


@cache
def get_slugs_by_path() -> dict[str, str]:
    """The slug of each page by its path from `docs/`."""
    return {page.path: page.slug for page in get_pages().values()}


def resolve_path(link: str, page: DocsPage) -> str:
    """The path from `docs/` that a relative link of a page means; one out of the folder begins with `../`."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page.path), link))
    return path.removeprefix("../docs/")


def find_target(path: str) -> tuple[Literal["page", "index", "schema", "file", ""], str]:
    """What a path from `docs/` leads to: a page by its slug, a schema or a file by its path; empty where nothing is."""
    if slug := get_slugs_by_path().get(path):
        return "page", slug
    if path == "README.md":
        return "index", ""
    if schema := _SCHEMA.fullmatch(path):
        return "schema", schema[1]
    return ("file", path) if path in list_shown_files() else ("", "")


def title_of_link(words: str, path: str) -> str:
    """The words of a link to a path; the name of a file is the title of its page."""
    slug = get_slugs_by_path().get(path) if words.endswith(".md") else None
    return get_pages()[slug].title if slug else words


@cache
def list_shown_files() -> dict[str, Path]:
    """What the pages show or link to and is not a page, by its path from `docs/`: this alone is served."""
    found = {}
    for page in get_pages().values():
        for link in _LINK.findall(page.text):
            path = resolve_path(link, page)
            file = DOCS_DIR / path
            if not path.startswith("../") and file.suffix != ".md" and file.is_file():
                found[path] = file
    return found
