"""The instructions as one document: what is drawn, what keys and menus write, and that nothing else changes."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.steps import AUTOSAVE_OFF, create, open_document, open_file, put, save, texts_of
from tests.servers import ROOT
from tests.sweeps import check_each

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]
_numbers = itertools.count(1)
# Each construct that is drawn, and some that are not.
EVERYTHING = """---
name: x
odd:   "kept"
---
# Piano   tuning #

Setext
------

With **bold**, __bold__, *soft*, ~~gone~~, `weight_trend_get`, ``a ` b``, [a link](https://x.example "T"), [ref], <https://y.example>.
A line break\\
and two spaces{space}
here. \\*Not soft\\*, ![image](i.png), <b>html</b>, footnote[^1].

* one
+ two
   1) three
      - [x] four

      lazy
| a | b \\| c |
|:--|--:|
| 1 | 2
no pipe | here

> quoted
>> twice
lazy

~~~js
## no heading
~~~

    indented code

<div>
  <!-- comment -->
</div>

***

**User:** hello
**Agent:** calls `weight_entry_delete(entry_id="x")`

User: plain
  - Agent: in a list
**Tool:** `weight_trend_get(days=30)`

[ref]: https://z.example
[^1]: Note.
\tTab.   \n\n\n""".replace("{space}", "  ")


@pytest.fixture
def editor(as_role: Callable[[str], Page], studio: Studio) -> Page:
    """The editor of the weights, which stores nothing by itself."""
    page = as_role("publisher")
    page.context.add_init_script(AUTOSAVE_OFF)
    page.goto(f"{studio.url}/capabilities/weights/edit/")
    return page


@pytest.fixture
def blank(as_role: Callable[[str], Page], studio: Studio) -> Page:
    """The document of a new capability."""
    page = as_role("publisher")
    page.context.add_init_script(AUTOSAVE_OFF)
    create(page, studio.url, f"written_{next(_numbers)}")
    open_document(page)
    return page


def _go_to(page: Page, name: str) -> None:
    page.get_by_role("navigation", name="Outline").get_by_role("link", name=name).first.click()


def _caret_at(document: Locator, at: int) -> None:
    document.evaluate(
        "(content, at) => { const view = content.cmTile?.view ?? content.cmView?.view;"
        " view.dispatch({ selection: { anchor: at }, scrollIntoView: true }); view.focus(); }",
        at,
    )


def _skills() -> dict[str, str]:
    paths = [*ROOT.glob("examples/*/skill.md"), *ROOT.glob("schemas/examples/valid/*/skill.md")]
    return {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in paths} | {"everything": EVERYTHING}


def test_a_letter_typed_and_deleted_leaves_every_byte(blank: Page) -> None:
    editor, document, dice, skills = blank, open_document(blank), random.Random(49), _skills()

    def check(name: str) -> None:
        text = skills[name]
        put(editor, "skill.md", text)
        places = range(len(text)) if name == "everything" else dice.sample(range(len(text)), min(12, len(text)))
        for at in list(places)[:: 9 if name == "everything" else 1]:
            _caret_at(document, at)
            editor.keyboard.press("x")
            # Inside of what is hidden no caret stands: the letter goes beside it.
            assert len(texts_of(editor)["skill_md"]) == len(text) + 1, at
            editor.keyboard.press("Backspace")
            assert texts_of(editor)["skill_md"] == text, at

    check_each(skills, check)
    save(editor)
    editor.reload()
    assert texts_of(editor)["skill_md"] == EVERYTHING


def test_the_code_is_one_switch_and_changes_nothing(editor: Page) -> None:
    document = open_document(editor)
    expect(document.get_by_role("heading", name="When to use")).to_be_visible()
    before = texts_of(editor)
    area = open_file(editor, "skill.md")
    expect(area).to_contain_text("## When to use")
    expect(editor.locator("#panel-skill_md .cm-lineNumbers")).to_be_visible()
    open_document(editor)
    expect(document.get_by_text("##", exact=False)).to_have_count(0)
    assert texts_of(editor) == before


def test_shift_home_selects_words_and_not_what_draws_their_line(blank: Page) -> None:
    document = open_document(blank)

    def check(lead: str) -> None:
        text = f"# Piano\n\nBefore.\n\n{lead}My piano is flat\n\nAfter.\n"
        put(blank, "skill.md", text)
        _caret_at(document, text.index(" flat") + len(" flat"))
        blank.keyboard.press("Shift+Home")
        blank.keyboard.type("Tuned")
        assert texts_of(blank)["skill_md"] == text.replace("My piano is flat", "Tuned")
        blank.keyboard.press("Home")
        blank.keyboard.type("Well ")
        assert texts_of(blank)["skill_md"] == text.replace("My piano is flat", "Well Tuned")
        # From the first word on, the whole line is meant.
        blank.keyboard.press("Home")
        blank.keyboard.press("Home")
        blank.keyboard.press("Shift+End")
        blank.keyboard.press("Delete")
        assert texts_of(blank)["skill_md"] == text.replace(f"{lead}My piano is flat", "")

    check_each(("**User:** ", "- **Agent:** ", "- "), check)


def test_a_document_is_written_by_the_keyboard_alone(blank: Page) -> None:
    _go_to(blank, "Default behavior")
    blank.keyboard.type("Ask for the day.")
    blank.keyboard.press("Enter")
    blank.keyboard.type("/bull")
    expect(blank.get_by_role("option", name="Bulleted list")).to_be_visible()
    blank.wait_for_timeout(200)
    blank.keyboard.press("Enter")
    blank.keyboard.type("Monday")
    blank.keyboard.press("Enter")
    blank.keyboard.type("Tuesday")
    blank.keyboard.press("Enter")
    blank.keyboard.press("Enter")
    blank.keyboard.type("Then book.")
    _go_to(blank, "Examples")
    blank.keyboard.type("My piano is flat")
    blank.keyboard.press("ArrowDown")
    blank.keyboard.type("Offers days.")
    blank.keyboard.press("Enter")
    blank.keyboard.type("Monday")
    text = texts_of(blank)["skill_md"]
    assert "\n\nAsk for the day.\n\n- Monday\n- Tuesday\n\nThen book.\n\n## Examples" in text
    assert text.endswith("**User:** My piano is flat\n**Agent:** Offers days.\n\n**User:** Monday\n")


def test_a_tool_is_named_by_its_first_letters_and_shows_its_card(editor: Page) -> None:
    document = open_document(editor)
    put(editor, "skill.md", "# Weights\n\n## When to use\n\nCall it.\n")
    _caret_at(document, len("# Weights\n\n## When to use\n\nCall"))
    editor.keyboard.type(" @weight_entry_d")
    option = editor.get_by_role("option", name="weight_entry_delete")
    expect(option).to_contain_text("Write")
    editor.wait_for_timeout(200)
    editor.keyboard.press("Enter")
    assert "\n\nCall `weight_entry_delete` it.\n" in texts_of(editor)["skill_md"]
    # By a key, the card takes the focus; Escape gives it back.
    editor.keyboard.press("Control+Enter")
    card = editor.get_by_role("region", name="weight_entry_delete")
    expect(card).to_contain_text("entry_id")
    expect(card.get_by_role("button", name="Open tool")).to_be_focused()
    editor.keyboard.press("Escape")
    expect(card).to_have_count(0)
    expect(document).to_be_focused()
    editor.keyboard.press("End")
    document.locator(".md-chip").click()
    card.get_by_role("button", name="Open tool").click()
    expect(editor.get_by_role("textbox", name="Name").first).to_have_value("weight_entry_delete")


def test_a_missing_section_of_the_outline_is_added_where_it_belongs(editor: Page) -> None:
    open_document(editor)
    put(editor, "skill.md", "# Weights\n\n## When to use\n\nNow.\n\n## Examples\n\nNone.\n")
    _go_to(editor, "Default behavior missing")
    expect(editor.locator(".md-hint")).to_have_text("Describe the usual steps.")
    editor.keyboard.type("Save.")
    expect(editor.locator(".md-hint")).to_have_count(0)
    assert "Now.\n\n## Default behavior\n\nSave.\n\n## Examples" in texts_of(editor)["skill_md"]


def test_dialogues_and_tables_are_drawn(editor: Page) -> None:
    document = open_document(editor)
    put(editor, "skill.md", EVERYTHING)
    said = document.locator(".md-say-first").evaluate_all(
        "all => all.map(one => [one.dataset.who, [...one.classList].find(name => name.startsWith('md-say--'))])"
    )
    assert said[:3] == [["User", "md-say--user"], ["Agent", "md-say--agent"], ["User", "md-say--user"]]
    expect(document.locator(".md-tr-head .md-cell")).to_have_count(2)
    # Columns stand below each other.
    left = document.locator(".md-tr .md-cell:nth-child(2)").evaluate_all(
        "all => all.map(one => Math.round(one.getBoundingClientRect().left))"
    )
    assert len(set(left)) == 1


def test_the_tab_key_goes_from_cell_to_cell_and_out_after_the_last(editor: Page) -> None:
    document = open_document(editor)
    text = "# Prices\n\n| Service | Price |\n| --- | --- |\n|  |  |\n\nThe end.\n"
    put(editor, "skill.md", text)
    _caret_at(document, text.index("Service"))
    for word in ("Price", "Tuning", "90"):
        editor.keyboard.press("Tab")
        editor.keyboard.type(word)
    assert [line.split() for line in texts_of(editor)["skill_md"].splitlines()[2:5]] == [
        ["|", "Service", "|", "Price", "|"],
        ["|", "---", "|", "---", "|"],
        ["|", "Tuning", "|", "90", "|"],
    ]
    editor.keyboard.press("Shift+Tab")
    editor.keyboard.type("Repair")
    assert "Tuning" not in texts_of(editor)["skill_md"]
    editor.keyboard.press("Tab")
    editor.keyboard.press("Tab")
    expect(document).not_to_be_focused()


def test_a_heading_and_a_list_end_by_the_backspace_key(editor: Page) -> None:
    document = open_document(editor)
    put(editor, "skill.md", "# Weights\n\n## Heading\n\n- item\n")
    _caret_at(document, len("# Weights\n\n## "))
    editor.keyboard.press("Backspace")
    _caret_at(document, len("# Weights\n\nHeading\n\n- "))
    editor.keyboard.press("Backspace")
    assert texts_of(editor)["skill_md"] == "# Weights\n\nHeading\n\nitem\n"
    editor.keyboard.press("Backspace")
    assert texts_of(editor)["skill_md"] == "# Weights\n\nHeadingitem\n"


def test_the_document_is_accessible_in_each_state(editor: Page) -> None:
    document = open_document(editor)
    put(editor, "skill.md", EVERYTHING)
    for width in (1440, 390):
        editor.set_viewport_size({"width": width, "height": 844})
        assert editor.evaluate("document.documentElement.scrollWidth") == width
    assert Axe().run(editor).response["violations"] == []
    document.locator(".md-chip").first.click()
    expect(editor.locator(".md-card")).to_be_visible()
    assert Axe().run(editor).response["violations"] == []
    editor.keyboard.press("Escape")
    editor.get_by_role("button", name="Insert /").click()
    expect(editor.get_by_role("option", name="Table")).to_be_visible()
    assert Axe().run(editor).response["violations"] == []
    for width in (390, 1440):
        editor.set_viewport_size({"width": width, "height": 844})
        assert editor.evaluate("document.documentElement.scrollWidth") == width
