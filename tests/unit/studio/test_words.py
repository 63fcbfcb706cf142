"""The pages of the Studio use the words of the product: none of tests/data/retired_ui_words.txt, and short buttons."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from typing import Final

import pytest
from django.test import Client

from tests.servers import ROOT
from tests.sweeps import check_each, rolled_back
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.page_sweep import list_addresses, list_addresses_of_nothing, read_page

_FILES: Final = (ROOT / "tests" / "retired_words.txt", ROOT / "tests" / "data" / "retired_ui_words.txt")
_WORDS: Final = [
    line for file in _FILES for line in file.read_text("utf-8").splitlines() if line and not line.startswith("#")
]
RETIRED: Final = re.compile(rf"(?<![\w-])(?:{'|'.join(f'(?:{word})' for word in _WORDS)})(?!\w)", re.IGNORECASE)
BUTTON_WORDS_MAX: Final = 3
# Code, and texts that people wrote.
_DATA: Final = ("code", "pre", "bdi", "textarea", "script", "style", "time", "del", "ins")
_VOID: Final = ("input", "link", "meta", "br", "hr", "img", "col", "rect", "line", "path", "circle", "source", "use")
_ATTRIBUTES: Final = ("aria-label", "placeholder", "title", "alt")
_EMPTY_STATES: Final = ("empty", "nothing")


class _Reader(HTMLParser):
    """The texts of a page's main part, its buttons, and its empty states."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.buttons: list[str] = []
        self.empty: list[str] = []
        self._open: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        classes = given.get("class", "").split()
        kind = "data" if tag in _DATA or given.get("translate") == "no" or "mono" in classes else ""
        if tag == "button" or (tag == "a" and "btn" in classes):
            kind = "button"
            self.buttons.append("")
        elif any(name in classes for name in _EMPTY_STATES):
            kind = "empty"
            self.empty.append("")
        elif "visually-hidden" in classes:
            kind = "hidden"
        if self._is_in("main") and not self._is_in("data"):
            self.texts += [given[name] for name in _ATTRIBUTES if name in given]
        if tag not in _VOID:
            self._open.append((tag, "main" if tag == "main" else kind))

    def handle_endtag(self, tag: str) -> None:
        while any(name == tag for name, _ in self._open) and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not self._is_in("main") or self._is_in("data"):
            return
        self.texts.append(data)
        if self._is_in("button") and not self._is_in("hidden"):
            self.buttons[-1] += data
        if self._is_in("empty"):
            self.empty[-1] += data

    def _is_in(self, kind: str) -> bool:
        return any(one == kind for _, one in self._open)


def faults(page: str) -> Iterator[str]:
    """What the page says otherwise than the product does."""
    reader = _Reader()
    reader.feed(page)
    for text in reader.texts:
        # A text that ends in a sentence about an element is in two pieces; each is read by itself.
        yield from (f"retired: {' '.join(text.split())[:100]!r} ({found[0]})" for found in RETIRED.finditer(text))
    for button in reader.buttons:
        if len(re.findall(r"\w[\w'’-]*", button)) > BUTTON_WORDS_MAX:
            yield f"long button: {' '.join(button.split())!r}"
    for text in reader.empty:
        if text.split()[:1] == ["None:"]:
            yield f"empty state: {' '.join(text.split())!r}"


def test_faults_are_found() -> None:
    page = """<p>Mend it</p><main><p title="Put away">All <code>mend</code></p><button>Do this and that</button>
    <a class="btn" href="/">Add a long <span class="visually-hidden">and hidden one</span></a>
    <p class="empty">None: nothing.</p><pre>Mended</pre></main>"""
    assert [fault.partition(":")[0] for fault in faults(page)] == ["retired", "retired", "long button", "empty state"]


@pytest.mark.slow
def test_the_pages_use_the_words_of_the_product(furnished: None, signed_in: SignIn) -> None:
    _check_words(signed_in("admin"), list_addresses())


@pytest.mark.slow
def test_the_pages_of_an_empty_registry_use_the_words_of_the_product(signed_in: SignIn) -> None:
    _check_words(signed_in("admin"), list_addresses_of_nothing())


def _check_words(client: Client, addresses: Iterable[str]) -> None:
    def check(address: str) -> None:
        assert list(faults(read_page(client, address))) == []

    check_each(addresses, check, isolate=rolled_back)


# Commands and variables are for those who run the server: pages link to the docs, which have them.
_FOR_THE_SERVER: Final = re.compile(
    r"manage\.py|bundle (?:accept|restore)|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b(?==|</code>| is on)"
)
# What an agent's developer copies.
_TO_COPY: Final = (
    "templates/components/snippets.html",
    "templates/studio/capability/live.html",
    "templates/agent_api/",
)


def test_pages_for_operators_have_no_command_and_no_variable() -> None:
    found = []
    for file in sorted([*ROOT.glob("templates/**/*.html"), *ROOT.glob("features/*/templates/**/*.html")]):
        name, text = file.relative_to(ROOT).as_posix(), file.read_text("utf-8")
        text = re.sub(r"{#.*?#}|{% comment %}.*?{% endcomment %}", "", text, flags=re.DOTALL)
        if not name.startswith(_TO_COPY) and (match := _FOR_THE_SERVER.search(text)):
            found.append(f"{name}: {match[0]}")
    assert found == []
