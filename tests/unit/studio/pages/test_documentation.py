"""Docs: the pages by role, each as HTML with links that lead somewhere, a search, and the files that pages show."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from studio.pages.documentation import catalog
from studio.pages.documentation.catalog import DOCS_DIR, get_pages, list_groups, list_shown_files
from studio.pages.documentation.rendering import prepare_text, render_docs
from studio.pages.documentation.search import search_docs
from studio.pages.markdown import clean_html
from tests.servers import ROOT
from tests.sweeps import check_each
from tests.unit.studio.conftest import SignIn

pytestmark = pytest.mark.django_db

_AUTHORS = ("instructions", "tools", "forms", "triggers", "publishing")
# Repository files that are named and not part of the product; the test of links in the repository holds them.
_OUTSIDE = re.compile(r'<span title="(?:\.\./)+(?!docs/|schemas/[\w/.]+\.schema\.json)[\w./-]+(?:#[\w-]+)?">')


def _find(query: str) -> list[str]:
    return [result.page.slug for result in search_docs(query).results]


def _write(folder: Path, monkeypatch: pytest.MonkeyPatch, **pages: str) -> None:
    """Pages of a registry of our own, each by its name; caches are emptied again by `fresh_docs`."""
    lines = [f"- [{name.title()}]({name}.md): about {name}" for name in pages]
    (folder / "README.md").write_text("\n".join(["# Documentation", "", "## For authors", "", *lines]) + "\n", "utf-8")
    for name, text in pages.items():
        (folder / f"{name}.md").write_text(text, "utf-8")
    monkeypatch.setattr(catalog, "DOCS_DIR", folder)
    _forget()


def _forget() -> None:
    from studio.pages.documentation import search

    for kept in (
        *(catalog.list_groups, catalog.get_pages, catalog.get_slugs_by_path, catalog.list_shown_files),
        *(render_docs, search._build_index),
    ):
        kept.cache_clear()


@pytest.fixture
def fresh_docs() -> Any:
    yield
    _forget()


# The list by role.


def test_every_page_of_the_folder_is_listed_once() -> None:
    listed = [page.path for group in list_groups() for page in group.pages]
    assert len(set(listed)) == len(listed)
    there = {path.relative_to(DOCS_DIR).as_posix() for path in DOCS_DIR.rglob("*.md")}
    there = {path for path in there if "node_modules" not in path} - {"README.md"}
    assert set(listed) == there | {"../schemas/README.md"}


@pytest.mark.parametrize(
    ("role", "first"),
    [
        ("author", "For authors"),
        ("viewer", "For authors"),
        ("publisher", "For reviewers and publishers"),
        ("admin", "For those who run it"),
        ("", "For agent developers"),
    ],
)
def test_the_pages_of_ones_own_role_come_first(role: str, first: str, signed_in: SignIn, client: Client) -> None:
    page = (signed_in(role) if role else client).get("/docs/").content.decode()
    titles = re.findall(r'<h2 id="group-\d+">([^<]+)</h2>', page)
    assert titles[0] == first
    assert sorted(titles) == sorted(group.title for group in list_groups())
    assert page.count('href="/docs/authors/tools/"') == 1


def test_docs_are_open_to_all_and_say_nothing_of_the_registry(client: Client) -> None:
    for address in ("/docs/", "/docs/?q=tool", "/docs/authors/tools/"):
        answer = client.get(address)
        assert answer.status_code == 200
        assert answer["Cache-Control"] == "private, no-cache"
        assert "<nav" not in answer.content.decode().partition('<main id="main"')[0]
        for method in ("post", "put", "delete", "patch"):
            assert getattr(client, method)(address).status_code == 405


def test_docs_ask_the_database_for_nothing_but_the_frame(signed_in: SignIn, client: Client) -> None:
    with CaptureQueriesContext(connection) as of_a_stranger:
        client.get("/docs/authors/tools/")
    assert len(of_a_stranger) == 0
    person = signed_in("author")
    person.get("/help/")
    with CaptureQueriesContext(connection) as of_help:
        person.get("/help/")
    for address in ("/docs/", "/docs/?q=tool", "/docs/contract/"):
        with CaptureQueriesContext(connection) as queries:
            person.get(address)
        assert len(queries) <= len(of_help), address


# A page.


@pytest.mark.slow
def test_every_page_has_a_title_and_no_link_that_leads_nowhere(client: Client) -> None:
    def check(slug: str) -> None:
        answer = client.get(f"/docs/{slug}/")
        assert answer.status_code == 200
        html = answer.content.decode()
        assert html.count("<h1>") == 1
        main = html.partition("docs-prose")[2]
        assert "<picture" not in main
        assert "&lt;picture" not in main
        assert "<!--" not in main
        assert not re.search(r"&lt;!-- (?:hot_path|transcript)", main)
        ids = set(re.findall(r' id="([^"]+)"', html))
        assert set(re.findall(r'href="#([^"]+)"', html)) <= ids | {"main"}
        for address in re.findall(r'(?:href|src)="(/(?:docs|schemas|api)/[^"]*)"', main):
            path, _, anchor = address.partition("#")
            other = client.get(path)
            assert other.status_code == 200, address
            assert not anchor or f'id="{anchor}"' in other.content.decode(), address
        for name in re.findall(r'<span title="[^"]+">', main):
            assert _OUTSIDE.fullmatch(name), name

    check_each(sorted(get_pages()), check)


def test_a_page_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh_docs: None) -> None:
    (tmp_path / "a.webp").write_bytes(b"light")
    (tmp_path / "b.webp").write_bytes(b"dark")
    text = """# The first

<!-- kept for a program -->
See [the other](second.md#a-part), [second.md](second.md), [nothing.md](nothing.md),
[here](#words), [there](https://example.com/x) and [a test](../tests/x.py).

## Words
## Words

<picture><source media="(prefers-color-scheme: dark)" srcset="b.webp"><img src="a.webp" alt="A page"></picture>

| | b |
| --- | --- |
| x<br>y | <script>alert(1)</script> |

```
<picture><source media="(prefers-color-scheme: dark)" srcset="b.webp"><img src="a.webp" alt="A page"></picture>
```
"""
    _write(tmp_path, monkeypatch, first=text, second="# Second\n\n## A part\n\nWords.\n")
    rendered = render_docs("first")
    assert rendered.title == "The first"
    assert [(each.level, each.anchor) for each in rendered.headings] == [(2, "words"), (2, "words-1")]
    html = str(rendered.html)
    assert '<a href="/docs/second/#a-part" rel="noopener noreferrer">the other</a>' in html
    assert '<a href="/docs/second/" rel="noopener noreferrer">Second</a>' in html
    assert '<span title="nothing.md">nothing.md</span>' in html
    assert '<a href="#words"' in html
    assert '<a href="https://example.com/x"' in html
    assert '<span title="../tests/x.py">a test</span>' in html
    assert '<h2 id="words">Words</h2>' in html
    assert html.count("<img ") == 2
    assert re.search(r'<img src="/docs/files/a.webp" alt="A page" class="docs-light" loading="lazy">', html)
    assert re.search(r'<img src="/docs/files/b.webp" alt="A page" class="docs-dark" loading="lazy">', html)
    assert "<td></td>" in html
    assert "x<br>y" in html
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert '<pre tabindex="0"><code>&lt;picture&gt;' in html
    assert "kept for a program" not in html


@pytest.mark.parametrize("link", ["javascript:alert(1)", "data:text/html,x", "//other.example/x", "../../etc/passwd"])
def test_a_link_that_leads_out_is_no_link(
    link: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh_docs: None
) -> None:
    _write(tmp_path, monkeypatch, first=f"# One\n\n[x]({link}) ![y]({link})\n")
    assert "href" not in render_docs("first").html
    assert f'src="{link}' not in render_docs("first").html


def test_cleaned_html_has_no_script_and_no_address_but_of_the_web() -> None:
    links = '<a href="javascript:x" onclick="x">a</a><a href="mailto:x">b</a><a href="https://x/">c</a>'
    cleaned = clean_html(f"{links}<script>x</script>", more_tags={"a"}, more_attributes={"a": {"href"}})
    assert re.findall(r'(?:href|on\w+)="[^"]*"|<script', cleaned) == ['href="https://x/"']
    assert clean_html(f"{links}<script>x</script>") == "abc"


@pytest.mark.parametrize(
    "page", ["nothing", "README", "contract.md", "../README", "%2e%2e/manage", "authors", "x" * 2000]
)
def test_a_page_that_is_not_there_says_so(page: str, client: Client) -> None:
    answer = client.get(f"/docs/{page}/")
    assert answer.status_code == 404
    assert b"Page not found" in answer.content


# The search.


@pytest.mark.parametrize(
    ("query", "slug"),
    [
        ("triggers", "authors/triggers"),
        ("POLICY_LOOSENED", "findings"),
        ("write instructions", "authors/instructions"),
        ("webhook signature", "webhooks"),
        ("Postgres backup", "operate"),
        ("sign in", "sign-in"),
        ("forms", "authors/forms"),
    ],
)
def test_what_is_asked_for_is_among_the_first_three(query: str, slug: str) -> None:
    assert slug in _find(query)[:3]


def test_a_word_in_the_title_weighs_more_than_one_in_the_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh_docs: None
) -> None:
    _write(
        tmp_path,
        monkeypatch,
        first="# One\n\nTeapot teapot teapot.\n",
        second="# Teapot\n\nNothing else.\n",
        third="# Three\n\n## A teapot\n\nWords.\n",
    )
    assert _find("teapots") == ["second", "third", "first"]
    assert _find("teap") == ["second", "third", "first"]
    assert _find("pot") == []
    (_first, by_heading, _last) = search_docs("teapot").results
    assert (by_heading.section, by_heading.anchor) == ("A teapot", "a-teapot")


def test_a_page_has_to_have_all_words_or_the_search_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh_docs: None
) -> None:
    _write(tmp_path, monkeypatch, first="# One\n\nRed.\n\n## Part\n\nGreen.\n", second="# Two\n\nRed.\n")
    assert _find("red green") == ["first"]
    assert not search_docs("red green").is_partial
    assert _find("red violet") == ["first", "second"]
    assert search_docs("red violet").is_partial
    assert search_docs("violet").results == ()


def test_an_excerpt_marks_the_words_and_runs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh_docs: None
) -> None:
    _write(tmp_path, monkeypatch, first=f"# One\n\n{'before ' * 60}`<b>teapot</b>` {'after ' * 60}\n")
    (found,) = search_docs("TEAPOT b").results
    assert "&lt;<mark>b</mark>&gt;<mark>teapot</mark>&lt;/<mark>b</mark>&gt;" in found.excerpt
    assert found.excerpt.startswith("… before")
    assert found.excerpt.endswith(" …")
    assert len(found.excerpt) < 400


@pytest.mark.parametrize("query", ["", " ", "?!", "\0", "<script>", "(((", "a" * 5000, "x " * 3000, "🧣", "%00", "\\"])
def test_any_query_is_answered(query: str, client: Client) -> None:
    answer = client.get("/docs/", {"q": query})
    assert answer.status_code == 200
    assert b"<script>" not in answer.content.partition(b'<main id="main"')[2]


def test_nothing_found_says_so(client: Client) -> None:
    page = client.get("/docs/?q=zzzzzz").content.decode()
    assert "No results" in page
    assert 'value="zzzzzz"' in page
    assert '<h2 id="group-1"' not in page


# What pages show.


def test_a_picture_is_served_with_its_type_and_an_etag(client: Client) -> None:
    path = next(path for path in list_shown_files() if path.startswith("img/"))
    answer = client.get(f"/docs/files/{path}")
    assert answer.status_code == 200
    assert answer["Content-Type"] in ("image/png", "image/webp")
    assert answer["Cache-Control"] == "public, max-age=300"
    assert answer.content == (DOCS_DIR / path).read_bytes()
    again = client.get(f"/docs/files/{path}", headers={"If-None-Match": answer["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_an_example_of_code_is_text(client: Client) -> None:
    answer = client.get("/docs/files/gitops/gitlab-ci.yml")
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    assert answer["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    [
        "contract.md",
        "img/nothing.png",
        "agents/forms/serve.py",
        "../pyproject.toml",
        "../../etc/passwd",
        "%2e%2e/manage.py",
        "img/../../manage.py",
        "/etc/passwd",
        "img",
        "img/home-light.png%00",
    ],
)
def test_no_other_file_is_served(path: str, client: Client) -> None:
    assert client.get(f"/docs/files/{path}").status_code == 404


# The pages for authors.


def _examples() -> dict[str, str]:
    """The files that the pages for authors show: `{name: text}`."""
    found: dict[str, str] = {}
    for name in _AUTHORS:
        text = (DOCS_DIR / "authors" / f"{name}.md").read_text("utf-8")
        for file, example in re.findall(r"^```\w+ (\S+)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
            assert file not in found
            found[file] = example
    return found


@pytest.mark.parametrize(
    ("folder", "names"),
    [
        ("", {"capability.json", "skill.md", "tools.json", "ui_schemas.json"}),
        ("minimal/", {"capability.json", "skill.md"}),
    ],
)
def test_the_examples_for_authors_are_bundles_without_findings(
    folder: str, names: set[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {name.removeprefix(folder): text for name, text in _examples().items() if ("/" in name) == bool(folder)}
    assert set(files) == names
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
    call_command("bundle", "validate", str(tmp_path), "--format", "json")
    (found,) = json.loads(capsys.readouterr().out)["bundles"]
    assert found["findings"] == []


def test_each_page_for_authors_has_an_example_and_pictures_with_words() -> None:
    def check(name: str) -> None:
        text = (DOCS_DIR / "authors" / f"{name}.md").read_text("utf-8")
        pictures = re.findall(r"!\[([^\]]*)\]\(([^ ]+) \"([^\"]+)\"\)", prepare_text(text))
        assert pictures
        for words, light, dark in pictures:
            assert len(words) > 20
            assert light.replace("light", "dark") == dark
        assert re.search(r"^```\w+ \S+$", text, re.MULTILINE)
        assert len(text.split()) < 1200

    check_each(_AUTHORS, check)


def test_the_docs_are_in_the_wheel_and_in_the_image() -> None:
    assert '"docs"' in (ROOT / "setup.py").read_text("utf-8")
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert not {"docs", "schemas", "templates"} & set(ignored)


def test_each_page_has_a_title_of_its_own_no_empty_head_and_code_that_takes_the_focus(signed_in: SignIn) -> None:
    pages = {slug: render_docs(slug) for slug in get_pages()}
    titles = [page.title for page in pages.values()]
    assert len(set(titles)) == len(titles)

    def check(slug: str) -> None:
        html = str(pages[slug].html)
        assert not re.search(r"<th[^>]*>\s*</th>", html)
        assert html.count("<pre") == html.count('<pre tabindex="0"')

    check_each(sorted(pages), check)
    # The Studio has pages of the same names.
    said = signed_in("viewer").get("/docs/audit-log/").content.decode()
    assert re.search(r"<title>\s*Audit log · Docs\b", said)
