"""Links, anchors, and the pages and sections that code cites exist; no file cites a page that a clone lacks."""

from __future__ import annotations

import re
import subprocess
import tomllib
from functools import cache
from pathlib import Path

import pytest

from registry.common.installation import list_leaf_names
from tests.servers import ROOT

# Notes from before the first release, which were never in the repository.
_OTHER_PAGES = re.compile(
    r"\b(?:CONTRACT|SPEC-SEEDS|DESIGN) [0-9A-E]\b|\b(?:A2UI|CLIENTS|REDESIGN)\.md\b"
    r"|\b(?:nebo-introduction|skill-loading-protocol|skill-ecosystem|playbook-skill-schema|agent-skills-mvp)"
)
_CITED = re.compile(r"(?<![\"'\w/.])docs/([\w/-]+\.(?:md|yml|json))(?:[ ]([0-9]+(?:\.[0-9])?|[A-E])\b)?")
_TEXTS = {
    ".py",
    ".md",
    ".html",
    ".json",
    ".yml",
    ".yaml",
    ".js",
    ".ts",
    ".toml",
    ".txt",
    ".service",
    ".conf",
    ".lua",
    ".example",
}


@cache
def _files() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    names = [name for name in listed.split("\0") if name and "/vendor/" not in name]
    return [ROOT / name for name in names if Path(name).suffix in _TEXTS and (ROOT / name).is_file()]


def _documents() -> list[Path]:
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "schemas").glob("*.md")])


def _prose(path: Path) -> str:
    """The text of a page without its code blocks."""
    return re.sub(r"^```.*?^```", "", path.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)


@cache
def _anchors(path: Path) -> set[str]:
    """The anchors that code hosts give to the headings of a page."""
    titles = re.findall(r"^#+ (.+)$", _prose(path), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("path", _documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    broken = []
    for link in re.findall(r"\]\((?!https?:|mailto:)([^)\s]+)\)", _prose(path)):
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        if not target.exists() or (anchor and anchor not in _anchors(target)):
            broken.append(link)
    assert broken == []


def test_each_page_is_in_the_index() -> None:
    linked = set(re.findall(r"\]\(([\w/-]+\.md)\)", (ROOT / "docs" / "README.md").read_text("utf-8")))
    pages = {str(path.relative_to(ROOT / "docs")) for path in _documents() if path.is_relative_to(ROOT / "docs")}
    outside = {"README.md"}
    assert linked == pages - outside


def test_pages_and_sections_that_files_cite_exist() -> None:
    if not _files():
        pytest.skip("needs a git clone")
    missing = []
    for path in _files():
        for name, section in _CITED.findall(path.read_text("utf-8")):
            page = ROOT / "docs" / name
            titles = re.findall(r"^##+ (\S+?)\.? ", page.read_text("utf-8"), re.MULTILINE) if page.exists() else []
            if not page.exists() or (section and section not in titles):
                missing.append(f"{path.relative_to(ROOT)}: docs/{name} {section}")
    assert missing == []


def test_no_file_cites_a_page_that_a_clone_lacks() -> None:
    cited = [
        f"{path.relative_to(ROOT)}: {found[0]}"
        for path in _files()
        if path != Path(__file__)
        for found in _OTHER_PAGES.finditer(path.read_text("utf-8"))
    ]
    assert cited == []


@pytest.mark.parametrize("page", ["security/threats.md", "promises.md", "requirements.md"])
def test_every_test_that_a_page_names_exists(page: str) -> None:
    named = re.findall(r"`((?:(?:features/)?\w+/)?tests/\S+?\.py)::(\w+)`", (ROOT / "docs" / page).read_text("utf-8"))
    assert len(named) > 10
    missing = [
        f"{file}::{name}"
        for file, name in named
        if not (ROOT / file).is_file() or f"def {name}(" not in (ROOT / file).read_text("utf-8")
    ]
    assert missing == []


def test_each_row_of_the_threats_names_a_test() -> None:
    page = (ROOT / "docs" / "security" / "threats.md").read_text("utf-8")
    rows = re.findall(r"^\| ([CWOFP]\d+) \|(.*)$", page, re.MULTILINE)
    assert len(rows) > 90
    assert [number for number, rest in rows if not re.search(r"`((features/)?\w+/)?tests/", rest)] == []
    for letter, last in (("C", 15), ("W", 23), ("F", 26), ("P", 17)):
        numbers = {int(number[1:]) for number, _ in rows if number[0] == letter}
        assert numbers >= set(range(1, last + 1))


def test_nothing_names_an_address_of_the_project_that_pyproject_does_not() -> None:
    """`[project.urls]` is the one place; as long as it is not there, whatever names an address has invented it."""
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"].get("urls", {})
    known = tuple(urls.values())
    address = re.compile(
        r"(?:https?://)?(?:github\.com|gitlab\.com|ghcr\.io|[\w.-]+\.readthedocs\.io)/[\w./-]*capability-studio[\w./-]*"
    )
    found = {
        str(path.relative_to(ROOT)): invented
        for path in _files()
        if (invented := [one for one in address.findall(path.read_text("utf-8")) if not one.startswith(known)])
    }
    assert found == {}


def test_the_features_that_may_be_left_out_are_listed() -> None:
    section = (ROOT / "docs" / "architecture.md").read_text("utf-8").partition("\nThey are `")[2].partition(";")[0]
    assert re.findall(r"\w{3,}(?=`)", section) == list(list_leaf_names())
