"""Whatever a person reads in the Studio can be said in another language."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import translation
from django.utils.translation import template as extraction

from tests.servers import ROOT
from tests.sweeps import check_each, rolled_back
from tests.unit.studio.brackets import everything_in_brackets, outside_brackets
from tests.unit.studio.compiled_catalog import compiled_catalog
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.marked_python import FILES, unmarked
from tests.unit.studio.page_sweep import list_addresses, read_page
from tests.unit.studio.script_texts import EDITOR, SERVED, literals
from tests.unit.studio.translation import TEMPLATES, untranslated


def _in_templates(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_every_text_of_a_template_is_marked_and_can_be_extracted() -> None:
    def check(page: Path) -> None:
        source = page.read_text("utf-8")
        assert list(untranslated(source)) == []
        # What makemessages does with it; it refuses a tag within a marked text.
        extraction.templatize(source, origin=page.name)

    check_each(TEMPLATES, check, name=_in_templates)


@pytest.mark.parametrize(
    "source",
    [
        "<p>Not marked</p>",
        '<p title="Not marked">{{ value }}</p>',
        '<button aria-label="{% if a %}Not marked{% endif %}"></button>',
        "{% translate 'marked' %} and not",
        "<input type='submit' value='Send'>",
        "{{ count|pluralize }}",
        '{{ name|default:"nobody" }}',
        '{% include "a.html" with title="History" %}',
        "<option>None</option>",
    ],
)
def test_what_is_not_marked_is_found(source: str) -> None:
    assert list(untranslated(source))


@pytest.mark.parametrize(
    "source",
    [
        "<p>{% translate 'Marked' %}</p>",
        "{% blocktranslate count n=n %}One{% plural %}Many{% endblocktranslate %}",
        "<code>alpha_beta and more</code><pre>Words</pre>",
        "{% block main_class %}page page-narrow{% endblock %}",
        "{# A note #}{% comment %}Words{% endcomment %}",
        '<p class="words" id="words">{{ value|date:"Y-m-d H:i" }} UTC, 12 KiB</p>',
        '{{ name|default:_("nobody") }}',
    ],
)
def test_what_is_marked_or_no_words_is_passed_over(source: str) -> None:
    assert list(untranslated(source)) == []


# Names; how a refusal of the registry begins; what the log and a header say; what the gallery shows as the words of
# somebody else.
NO_SENTENCES = {
    "{} is not an object",
    "Bearer {}",
    "Capability Studio",
    "Microsoft Excel",
    "Groups are",
    "Ids of capabilities",
    "Write `object`.",
    "-Answer in one sentence.",
    "+Answer in two.",
}


def test_every_sentence_of_the_studio_is_marked() -> None:
    def check(file: Path) -> None:
        assert [found for found in unmarked(file.read_text("utf-8")) if found[1] not in NO_SENTENCES] == []

    check_each(FILES, check, name=str)


def test_a_sentence_that_is_not_marked_is_found() -> None:
    for source in ("tell('It is done.')", "error = f'Your role, {role}, may not.'", "words = f'{name} is gone now'"):
        assert list(unmarked(source)), source
    for source in ("tell(_('It is done.'))", "def a():\n    '''What it does.'''", "name = 'what-it-is'", "f'{a}: {b}'"):
        assert list(unmarked(source)) == [], source


# Names and texts of what stands on the pages, and the scopes of a key, which the API speaks.
CHOSEN = [
    "alpha",
    "beta",
    "gamma",
    "greets",
    "Pets",
    "agent",
    "chat",
    "Claude",
    "Code",
    "Codex",
    "Cursor",
    "GitHub",
    "Copilot",
    "CLI",
    "Desk",
    "Team",
    "health",
    "Health",
    "the",
    "admin",
    "Jobs",
    "note",
    "words",
    "Alpha",
    "Beta",
    "Gamma",
    "please",
    "ffmpeg",
    "github",
    "openpyxl",
    "pandas",
    "read",
    "weights",
    "feedback",
    "propose",
    "publish",
]


@pytest.mark.slow
def test_a_page_shows_nothing_that_was_not_translated(furnished: None, signed_in: SignIn) -> None:
    client = signed_in("admin")

    def check(address: str) -> None:
        with everything_in_brackets():
            page = read_page(client, address)
        assert outside_brackets(page, CHOSEN) == []

    check_each(list_addresses(), check, isolate=rolled_back)


def test_every_moment_is_told_in_the_readers_zone_with_its_name() -> None:
    """By `when`, `since` or `moment_words`; a field that takes one stands beside the name of its zone."""

    def check(page: Path) -> None:
        source = page.read_text("utf-8")
        shown = re.sub(r"value=\"[^\"]*\"", "", source)
        assert not re.search(r"\|ago\b|\|date:[\"'][^\"']*[Hhi]", shown)
        fields = re.search(r"type=\"(?:datetime-local|date|time)\"", source)
        assert not fields or "{% time_zone " in source

    check_each(TEMPLATES, check, name=_in_templates)


# Keys, names of nodes, of components of a form and what a file holds: Do, Check and Say are words of a playbook, User
# and Agent of a dialogue, in every language.
NO_WORDS_OF_SCRIPTS = {
    "Agent",
    "Array",
    "Backspace",
    "Blockquote",
    "Button",
    "Check",
    "Do",
    "Document",
    "Enter",
    "Escape",
    "False",
    "Home",
    "Link",
    "Null",
    "Number",
    "Object",
    "Paragraph",
    "Property",
    "Say",
    "Slider",
    "Steps",
    "Strikethrough",
    "String",
    "Table",
    "Tab",
    "Text",
    "True",
    "User",
    "input, select, textarea",
    "(prefers-color-scheme: dark)",
    "3px solid transparent",
}


def _marked(files: Iterable[Path]) -> set[str]:
    return {one.words for file in files for one in literals(file.read_text("utf-8")) if one.is_marked}


def test_no_script_has_a_sentence_of_its_own() -> None:
    def check(file: Path) -> None:
        shown = [one for one in literals(file.read_text("utf-8")) if one.looks_shown and not one.is_marked]
        # Elements and values of styles are not words.
        words = [one for one in shown if not one.words.startswith("<") and "var(--" not in one.words]
        assert [one for one in words if one.words not in NO_WORDS_OF_SCRIPTS] == []

    check_each([*SERVED, *EDITOR], check, name=str)


def test_every_marked_text_of_a_script_can_be_extracted() -> None:
    """A text that is put together, or given by name, could not be found by makemessages."""

    def check(file: Path) -> None:
        source = file.read_text("utf-8")
        calls = re.findall(r"(?<![\w.])gettext\((?!\))", re.sub(r"//[^\n]*", "", source))
        assert len(calls) == sum(one.is_marked for one in literals(source))

    check_each([*SERVED, *EDITOR], check, name=str)


def test_the_scripts_get_the_texts_of_the_language(client: Client, settings: Any, tmp_path: Path) -> None:
    folder = tmp_path / "de" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    (folder / "djangojs.mo").write_bytes(compiled_catalog({text: f"⟦{text}⟧" for text in _marked([*SERVED, *EDITOR])}))
    settings.LOCALE_PATHS = [tmp_path]
    with translation.override("de"):
        brought = client.get("/script-texts/").content.decode()
    catalog = json.loads(re.findall(r"const newcatalog = (\{.*?\n  \});", brought, re.DOTALL)[0])
    assert _marked([*SERVED, *EDITOR]) <= set(catalog)
    assert catalog["Copied"] == "⟦Copied⟧"


@pytest.mark.parametrize("address", ["/", "/capabilities/alpha/edit/", "/sign-in/"])
def test_a_page_loads_the_texts_before_its_scripts(
    address: str, furnished: None, client: Client, signed_in: SignIn
) -> None:
    page = (client if address == "/sign-in/" else signed_in("admin")).get(address).content.decode()
    scripts = re.findall(r'<script defer src="([^"]+)"', page)
    texts = scripts.index("/script-texts/")
    assert texts < min(number for number, script in enumerate(scripts) if "/studio/" in script)


@pytest.mark.parametrize(
    "source",
    [
        'place.textContent = "Saved";',
        "place.textContent = 'all done';",
        'h("p", {}, "gone")',
        'h("p", { class: "help" }, `No ${word}`)',
        'button("remove", go)',
        "tell(`Saved by ${name}.`)",
        'x = `${gettext("A word")} and more`;',
        'a.set("title", `${b ? "Not marked" : ""}`);',
    ],
)
def test_a_sentence_in_a_script_is_found(source: str) -> None:
    assert [one for one in literals(source) if one.looks_shown and not one.is_marked]


@pytest.mark.parametrize(
    "source",
    [
        'place.textContent = gettext("Saved");',
        'tell(gettext("Saved by %(name)s."), { name }, true));',
        'h("p", { class: "btn btn-quiet" })',
        'root.querySelector("main input[type=search]")',
        "// A sentence, with a \"text\" in it.\n/* And 'another one' here. */",
        'const found = /^a "long way" off$/.exec(text);',
        'throw new Error("Not for people");',
    ],
)
def test_what_is_marked_or_no_words_is_passed_over_in_a_script(source: str) -> None:
    assert not [one for one in literals(source) if one.looks_shown and not one.is_marked]


@pytest.mark.parametrize("address", ["/sign-in/", "/", "/nowhere/"])
@pytest.mark.parametrize(("language", "direction"), [("en", "ltr"), ("de", "ltr"), ("ar", "rtl")])
def test_a_page_names_its_language_and_direction(
    address: str, language: str, direction: str, signed_in: SignIn
) -> None:
    client = Client() if address == "/sign-in/" else signed_in("viewer")
    with translation.override(language):
        page = client.get(address).content.decode()
    assert f'<html lang="{language}" dir="{direction}">' in " ".join(page.split())


def test_styles_name_no_side() -> None:
    """Left and right are those of one direction of writing; start and end follow it."""
    sides = re.compile(
        r"(?:margin|padding|border)-(?:left|right)|(?<![-\w])(?:left|right)\s*:|(?:float|text-align):\s*(?:left|right)"
    )
    for sheet in (ROOT / "studio" / "static" / "studio").rglob("*.css"):
        assert not sides.findall(re.sub(r"/\*.*?\*/", "", sheet.read_text("utf-8"), flags=re.DOTALL)), sheet.name
