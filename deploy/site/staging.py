"""Lay out the pages of `docs/` for a generator of static sites.

Code hosts and the product show the same files; what differs is rewritten here: pictures in two themes, links to files
that a site does not have, and HTML that is meant as text.
"""

from __future__ import annotations

import html
import json
import posixpath
import re
import shutil
from pathlib import Path
from typing import Final

from capability_rules.schema_loader import SCHEMAS_DIR
from studio.pages.documentation.catalog import (
    DocsPage,
    find_target,
    get_pages,
    list_groups,
    list_shown_files,
    resolve_path,
    title_of_link,
)
from studio.pages.documentation.markup import PICTURE, map_prose, without_comments

_LINK: Final = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
# Code within a line, which stays as it is.
_CODE: Final = re.compile(r"(`+[^`]*`+)")
_CONFIG: Final = "mkdocs.yml"


def stage_site(folder: Path, *, name: str = "Capability Studio") -> Path:
    """Write the pages, what they show, the schemas and the generator's configuration below an empty folder.

    Returns the configuration; the site is built into `site` beside it.
    """
    pages = folder / "docs"
    for page in get_pages().values():
        _write(pages / f"{page.slug}.md", rewrite_page(page))
    _write(pages / "index.md", _index())
    for path, file in list_shown_files().items():
        (pages / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, pages / path)
    for schema in SCHEMAS_DIR.rglob("*.schema.json"):
        target = pages / "schemas" / schema.relative_to(SCHEMAS_DIR)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(schema, target)
    config = folder / _CONFIG
    # YAML is a superset of JSON.
    _write(config, json.dumps(_config(name), indent=2) + "\n")
    return config


def rewrite_page(page: DocsPage) -> str:
    """A page as the generator takes it, at `SLUG.md`."""

    def rewrite(prose: str) -> str:
        prose = PICTURE.sub(r"![\3](\2#only-light) ![\3](\1#only-dark)", without_comments(prose))
        parts = _CODE.split(prose)
        parts[::2] = [part.replace("<br>", "\0").replace("<", "&lt;").replace("\0", "<br>") for part in parts[::2]]
        return _LINK.sub(lambda found: _rewrite_link(found, page), "".join(parts))

    return map_prose(rewrite, page.text)


def _rewrite_link(found: re.Match[str], page: DocsPage) -> str:
    mark, words, link = found.groups()
    target, hash_sign, anchor = link.partition("#")
    if re.match(r"https?:", target):
        # A picture from another host, in an example, is not loaded.
        return words if mark else found[0]
    if not target:
        return found[0]
    path = resolve_path(target, page)
    place = _place_of(path)
    if not place:
        return words
    words = title_of_link(words, path)
    return f"{mark}[{words}]({posixpath.relpath(place, posixpath.dirname(page.slug) or '.')}{hash_sign}{anchor})"


def _place_of(path: str) -> str:
    """Where a path from `docs/` is on the site; empty where it is not there."""
    kind, name = find_target(path)
    return {"page": f"{name}.md", "index": "index.md"}.get(kind, name)


def _index() -> str:
    lines = ["# Documentation", ""]
    for group in list_groups():
        lines += [f"## {group.title}", ""]
        for page in group.pages:
            about = f": {html.escape(page.about)}" if page.about else ""
            lines.append(f"- [{page.title}]({page.slug}.md){about}")
        lines.append("")
    return "\n".join(lines)


def _config(name: str) -> dict[str, object]:
    groups = [{group.title: [{page.title: f"{page.slug}.md"} for page in group.pages]} for group in list_groups()]
    scheme = {"toggle": {"icon": "lucide/sun-moon", "name": "Change the theme"}}
    return {
        "site_name": name,
        "docs_dir": "docs",
        "site_dir": "site",
        # Pages can be read from a folder, and nothing is loaded from another host.
        "use_directory_urls": False,
        "theme": {
            "name": "material",
            "font": False,
            "features": ["navigation.tabs", "navigation.top", "search.highlight", "content.code.copy"],
            "palette": [
                {"media": "(prefers-color-scheme: light)", "scheme": "default", **scheme},
                {"media": "(prefers-color-scheme: dark)", "scheme": "slate", **scheme},
            ],
        },
        "markdown_extensions": ["attr_list", "tables", "toc", "pymdownx.superfences"],
        "nav": [{"Documentation": "index.md"}, *groups],
    }


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
