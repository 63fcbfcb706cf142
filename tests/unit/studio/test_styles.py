"""The look of the Studio: what it weighs, where its colors are, and that the icons that templates name are there."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from studio.config.static_storage import join_parts
from studio.pages.navigation import SECTIONS
from tests.servers import ROOT
from tests.unit.studio.translation import TEMPLATES

STYLES = ROOT / "studio" / "static" / "studio"
SHEETS = sorted(STYLES.rglob("*.css"))
# Of studio.css, which every page loads, and of editor.css.
PARTS = sorted(path for folder in ("base", "layout", "components") for path in (STYLES / folder).glob("*.css"))
EDITOR_PARTS = sorted(STYLES.glob("editor/*.css"))
SPRITE = STYLES / "icons" / "sprite.svg"
# What a page may load before it is drawn for the first time, as it goes over the wire.
WEIGHT_MAX = 150_000
PAGE_STYLES_MAX = 3
# In bytes before compression: what every page loads, and what one page adds.
EVERYWHERE_MAX = 85_000
OWN_MAX = 20_000


def _served(name: str) -> bytes:
    """A file as browsers are given it."""
    if name.endswith(".css"):
        return join_parts(name, lambda part: (STYLES / part).read_text("utf-8")).encode()
    return (STYLES / name).read_bytes()


def _weight(name: str) -> int:
    data = _served(name)
    return len(data) if name.endswith(".woff2") else len(gzip.compress(data, 9))


def test_the_first_page_is_light() -> None:
    everywhere = ("tokens.css", "studio.css")
    heaviest = sorted(
        (_weight(path.name) for path in STYLES.glob("*.css") if path.name not in everywhere), reverse=True
    )
    fixed = [*everywhere, "icons/sprite.svg", *(f"fonts/{path.name}" for path in STYLES.glob("fonts/*.woff2"))]
    assert sum(map(_weight, fixed)) + sum(heaviest[:PAGE_STYLES_MAX]) <= WEIGHT_MAX


def _linked_styles(template: str) -> list[str]:
    return re.findall(r"""<link rel="stylesheet" href="\{% static '([\w/]+\.css)' %\}">""", template)


def test_every_page_loads_few_styles() -> None:
    styles = _linked_styles((ROOT / "templates" / "components" / "styles.html").read_text("utf-8"))
    assert styles == ["studio/tokens.css", "studio/studio.css"]
    assert sum(len(_served(name.removeprefix("studio/"))) for name in styles) <= EVERYWHERE_MAX


@pytest.mark.parametrize(("sheet", "parts"), [("studio.css", PARTS), ("editor.css", EDITOR_PARTS)])
def test_each_part_is_imported_once(sheet: str, parts: list[Path]) -> None:
    named = re.findall(r'^@import "([\w/]+\.css)"', (STYLES / sheet).read_text("utf-8"), re.MULTILINE)
    assert sorted(named) == [path.relative_to(STYLES).as_posix() for path in parts]
    assert "@import" not in _served(sheet).decode()


def test_a_page_adds_few_styles() -> None:
    found = {path.name: len(_served(path.name)) for path in STYLES.glob("*.css")}
    found |= {path.name: path.stat().st_size for path in ROOT.glob("features/*/static/**/*.css")}
    for path in TEMPLATES:
        own = [found[name.rpartition("/")[2]] for name in _linked_styles(path.read_text("utf-8"))]
        name = str(path).partition("templates/")[2]
        if name != "components/styles.html":
            assert sum(own) <= OWN_MAX, name


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda path: path.name)
def test_colors_are_tokens(sheet: Path) -> None:
    if sheet.name == "tokens.css":
        return
    text = re.sub(r"/\*.*?\*/|url\([^)]*\)", "", sheet.read_text("utf-8"), flags=re.DOTALL)
    assert not re.findall(r"#[0-9a-fA-F]{3,8}\b|\b(?:rgba?|hsla?|light-dark)\([^v]", text)
    assert "--bs-" not in text


def test_tokens_that_are_used_are_there() -> None:
    given = set(re.findall(r"(--[\w-]+):", "".join(path.read_text("utf-8") for path in SHEETS)))
    for path in SHEETS:
        assert set(re.findall(r"var\((--[\w-]+)", path.read_text("utf-8"))) <= given, path.name


def test_each_class_of_the_styles_is_used() -> None:
    """Written out, or put together at run time: `badge--{{ tone }}`. Of editor and surface the built files count."""
    folders = ("studio", "templates", "agent_api", "registry", "features", "frontend")
    found = (path for folder in folders for path in (ROOT / folder).rglob("*") if "node_modules" not in path.parts)
    sources = "\n".join(path.read_text("utf-8") for path in found if path.suffix in (".html", ".js", ".mjs", ".py"))
    words = set(re.findall(r"[\w-]+", sources))
    beginnings = {each for each in re.findall(r"([\w-]+-)(?:\{[{%]|\$?\{)", sources) if len(each) > 2}
    unused = {}
    for path in SHEETS:
        rules = re.sub(r"/\*.*?\*/|@[^{};]*", "", path.read_text("utf-8"), flags=re.DOTALL)
        classes = {
            name for each in re.findall(r"([^{};]+)\{", rules) for name in re.findall(r"\.(-?[A-Za-z_][\w-]*)", each)
        }
        unused[path.name] = sorted(
            name for name in classes - words if not any(name.startswith(beginning) for beginning in beginnings)
        )
    assert not any(unused.values()), {name: classes for name, classes in unused.items() if classes}


def _classes(sheet: Path) -> set[str]:
    rules = re.sub(r"/\*.*?\*/", "", sheet.read_text("utf-8"), flags=re.DOTALL)
    return {name for each in re.findall(r"([^{};]+)\{", rules) for name in re.findall(r"\.(-?[A-Za-z_][\w-]*)", each)}


def _parts(name: str, sources: dict[str, str], seen: set[str]) -> set[str]:
    """The template with all that it includes and extends."""
    if name not in seen and name in sources:
        seen.add(name)
        for other in re.findall(r"""["']([\w/]+\.html)(?:#[\w-]+)?["']""", sources[name]):
            _parts(other, sources, seen)
    return seen


def test_a_page_links_the_sheets_of_what_it_draws() -> None:
    """A class whose rules are in one sheet alone. The editor's are its modes of components that others have too."""
    sources = {str(path).partition("templates/")[2]: path.read_text("utf-8") for path in TEMPLATES}
    everywhere = set().union(*map(_classes, (*PARTS, STYLES / "tokens.css", STYLES / "print.css")))
    sheets = {
        path.name: _classes(path) - everywhere
        for path in (*STYLES.glob("*.css"), *ROOT.glob("features/*/static/**/*.css"))
        if path.name not in ("editor.css", "gallery.css")
    }
    missing = set()
    for name, source in sources.items():
        if not name.startswith(("studio/", "agent_api/")) or "{% extends" not in source or "gallery" in name:
            continue
        drawn = "\n".join(sources[part] for part in sorted(_parts(name, sources, set())))
        linked = {sheet.rpartition("/")[2] for sheet in re.findall(r"static '([\w/.]+\.css)'", drawn)}
        # A tag may have quotes of its own.
        written = " ".join(re.findall(r'class="([^"]*)"', re.sub(r"\{[%{].*?[%}]\}", " ", drawn)))
        for word in set(written.split()):
            homes = {sheet for sheet, classes in sheets.items() if word in classes}
            if homes and not homes & linked:
                missing.add((name, word, *sorted(homes)))
    assert missing == set()


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda path: path.name)
def test_no_rule_asks_what_is_around_a_page_for_what_it_has(sheet: Path) -> None:
    """Each change inside would style the whole page again: 15 ms in the editor with 80 tools, several times a click."""
    text = re.sub(r"/\*.*?\*/", "", sheet.read_text("utf-8"), flags=re.DOTALL)
    assert not re.findall(
        r"(?:\bhtml|\bbody|\bmain|:root|\.app|\.app__main|\.page|\.editor|\.shell):(?:not\(:)?has\(", text
    )


def test_icons_that_are_named_are_in_the_sprite() -> None:
    there = set(re.findall(r'<symbol id="([\w-]+)"', SPRITE.read_text("utf-8")))
    sources = "".join(path.read_text("utf-8") for path in TEMPLATES)
    named = set(re.findall(r'\{% icon "([\w-]+)"', sources)) | set(re.findall(r'icon(?:_name)?="([\w-]+)"', sources))
    assert named | {section.icon for section in SECTIONS} <= there


def test_what_others_drew_brings_its_license() -> None:
    assert {path.name for path in STYLES.glob("*/LICENSE-*.txt")} == {
        "LICENSE-inter.txt",
        "LICENSE-geist-mono.txt",
        "LICENSE-lucide.txt",
    }


def test_the_first_tool_of_a_form_keeps_the_top_edge_of_its_card() -> None:
    sheet = _served("editor.css").decode()
    assert ".form-view > .form-group:first-child:not(.tool) {" in sheet
    assert ".form-view > .form-group:first-child {" not in sheet


def test_a_component_that_one_page_uses_belongs_to_that_page() -> None:
    """Its file is in the page's folder. What the layout and other components are made of is of every page."""
    users: dict[str, set[str]] = {path.name: set() for path in (ROOT / "templates" / "components").iterdir()}
    for path in TEMPLATES:
        for name in re.findall(r"components/(\w+\.html)", path.read_text("utf-8")):
            users[name].add(str(path).partition("templates/")[2])
    of_one_page = {
        name: page
        for name, (page, *others) in ((name, sorted(used)) for name, used in users.items() if used)
        if not others and page.count("/") == 2
    }
    assert of_one_page == {}
