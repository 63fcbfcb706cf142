"""The static site of docs/: each link and picture leads somewhere, and the generator takes the pages strictly."""

from __future__ import annotations

import importlib.util
import json
import posixpath
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.site.staging import rewrite_page, stage_site
from studio.pages.documentation.catalog import DocsPage, get_pages
from tests.servers import ROOT
from tests.sweeps import check_each

_FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"`+[^`]*`+")


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the pages."""
    return stage_site(tmp_path_factory.mktemp("site")).parent / "docs"


def _prose(page: Path) -> str:
    return _CODE.sub("", _FENCED.sub("", page.read_text("utf-8")))


def _anchors(page: Path) -> set[str]:
    """The anchors of code hosts, as the generator and the product make them."""
    titles = re.findall(r"^#+ (.+)$", _FENCED.sub("", page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def _list_pages(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _list_pages(each)
    elif isinstance(value, list):
        for each in value:
            yield from _list_pages(each)


def test_every_link_and_picture_of_every_page_leads_somewhere(staged: Path) -> None:
    def check(page: Path) -> None:
        for link in re.findall(r"\]\(([^)\s]+)\)", _prose(page)):
            if link.startswith(("https://", "http://")):
                continue
            name, _, anchor = link.partition("#")
            target = (page.parent / name).resolve() if name else page
            assert target.is_relative_to(staged), link
            assert target.is_file(), link
            assert target.suffix == ".webp" or not anchor or anchor in _anchors(target), link

    check_each(sorted(staged.rglob("*.md")), check, name=lambda page: page.relative_to(staged))


def test_every_page_is_in_the_navigation_once(staged: Path) -> None:
    config = json.loads((staged.parent / "mkdocs.yml").read_text("utf-8"))
    listed = list(_list_pages(config["nav"]))
    assert len(set(listed)) == len(listed)
    assert set(listed) == {page.relative_to(staged).as_posix() for page in staged.rglob("*.md")}


def test_the_schemas_are_at_the_paths_of_their_ids(staged: Path) -> None:
    for schema in (staged / "schemas").rglob("*.json"):
        declared = json.loads(schema.read_text("utf-8"))["$id"]
        assert declared.endswith(f"/{schema.relative_to(staged).as_posix()}")
    assert (staged / "schemas" / "capability.schema.json").is_file()


def test_a_page_is_rewritten() -> None:
    pictures = (
        '<source media="(prefers-color-scheme: dark)" srcset="../img/home-dark.webp"><img src="../img/home-light.webp"'
    )
    text = f"""# One

<!-- for a program -->
<picture>{pictures} alt="A"></picture>

<img src=x onerror=alert(1)>, `<b>` and a<br>b; [the glossary](../glossary.md#x), [jobs.md](../jobs.md#x),
[a test](../../tests/x.py),
![far](https://x.example/p.png)

```
<b> [x](../nowhere.md)
```
"""
    written = rewrite_page(DocsPage("security/one", "security/one.md", "One", "About one.", text))
    assert "![A](../img/home-light.webp#only-light) ![A](../img/home-dark.webp#only-dark)\n" in written
    assert "&lt;img src=x onerror=alert(1)>, `<b>` and a<br>b;" in written
    assert "[the glossary](../glossary.md#x), [Jobs](../jobs.md#x),\na test,\nfar\n" in written
    assert "<b> [x](../nowhere.md)\n" in written
    assert "for a program" not in written


def test_a_picture_in_two_themes_is_two_pictures(staged: Path) -> None:
    page = (staged / "studio.md").read_text("utf-8")
    assert re.search(
        r"!\[Home[^\]]+\]\(img/home-light\.webp#only-light\) !\[Home[^\]]+\]\(img/home-dark\.webp#only-dark\)", page
    )
    assert "<picture" not in page


def test_no_page_needs_another_host(staged: Path) -> None:
    config = json.loads((staged.parent / "mkdocs.yml").read_text("utf-8"))
    assert config["theme"]["font"] is False
    for slug in get_pages():
        assert not re.search(r"!\[[^\]]*\]\(https?:", _prose(staged / f"{slug}.md")), slug
        assert posixpath.normpath(slug) == slug


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("zensical") is None, reason="needs zensical: pip install -r the test lock")
def test_the_generator_builds_it_strictly(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "deploy.site", str(tmp_path / "built")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    page = (tmp_path / "built" / "site" / "authors" / "tools.html").read_text("utf-8")
    assert "lost_item_report" in page
    assert not re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="https?://(?!zensical)', page)
