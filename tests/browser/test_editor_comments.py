"""Comments of a review beside the document: at their sentence, answered, done, and a suggestion that is accepted."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.steps import AUTOSAVE_OFF, open_document, open_file, put, save, texts_of

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]
_numbers = itertools.count(1)
PROGRAM = """
from registry.catalog import drafts
from registry.common.actors import Actor
from registry.publishing import review_comments, reviews
from tests.factories import bundle
OLGA, PAUL = Actor("operator", "olga"), Actor("operator", "paul")
files = bundle(NAME, body="Ask for the day.\\n\\nBook it.")
draft = drafts.save_draft(capability_id=NAME, files=files, based_on=None, by=OLGA)
review = reviews.request_review(capability_id=NAME, draft_version=draft.version, by=OLGA, note="Please look")
lines = files["skill.md"].split("\\n")
say = dict(review_id=review.pk, by=PAUL, file="skill.md")
review_comments.add_comment(words="Which day?", line=lines.index("Ask for the day.") + 1, **say)
review_comments.add_comment(words="", suggestion="Book the tuner.", line=lines.index("Book it.") + 1, **say)
review_comments.add_comment(words="Too long", line=lines.index("## Examples") + 1, **say)
reviews.request_changes(review_id=review.pk, round_seen=1, by=PAUL, words="See the comments")
"""


@pytest.fixture
def editor(as_role: Callable[[str], Page], studio: Studio) -> Page:
    """The document of a draft with three comments: a question, a suggestion and one on a heading."""
    name = f"said_{next(_numbers)}"
    studio.manage("shell", "-c", f"NAME = {name!r}\n{PROGRAM}")
    page = as_role("publisher")
    page.context.add_init_script(AUTOSAVE_OFF)
    page.goto(f"{studio.url}/capabilities/{name}/edit/")
    open_document(page)
    return page


def _note(page: Page, words: str) -> Locator:
    return page.locator(".margin-note").filter(has_text=words)


def _top(of: Locator) -> float:
    return float(of.evaluate("one => one.getBoundingClientRect().top"))


def test_a_note_stands_at_its_sentence_and_moves_with_it(editor: Page) -> None:
    sentence = editor.locator(".md-commented").filter(has_text="Ask for the day.")
    note = _note(editor, "Which day?")
    assert abs(_top(note) - _top(sentence)) < 24
    put(editor, "skill.md", texts_of(editor)["skill_md"])
    editor.locator("#outline a[data-file='skill.md'][data-part='/0']").click()
    for _ in range(3):
        editor.keyboard.press("Home")
        editor.keyboard.type("More.")
        editor.keyboard.press("Enter")
    editor.wait_for_timeout(100)
    assert abs(_top(note) - _top(sentence)) < 24


def test_a_comment_is_answered_and_done_without_leaving_the_draft(editor: Page) -> None:
    editor.locator("#outline a[data-file='skill.md'][data-part='/0']").click()
    editor.keyboard.type("Typed. ")
    before = texts_of(editor)
    _note(editor, "Which day?").locator("summary").click()
    _note(editor, "Which day?").get_by_label("Your reply").fill("Monday")
    _note(editor, "Which day?").get_by_role("button", name="Send reply").click()
    expect(_note(editor, "Which day?")).to_contain_text("Monday")
    _note(editor, "Which day?").get_by_role("button", name="Done").click()
    expect(_note(editor, "Which day?")).to_have_count(0)
    expect(editor.locator(".margin-note")).to_have_count(2)
    expect(editor.locator(".md-commented").filter(has_text="Ask for the day.")).to_have_count(0)
    assert texts_of(editor) == before


def test_a_suggestion_is_accepted_and_taken_back_in_one_step(editor: Page) -> None:
    before = texts_of(editor)["skill_md"]
    note = _note(editor, "Book the tuner.")
    expect(note.locator("del")).to_have_text("Book it.")
    note.get_by_role("button", name="Accept").click()
    expect(note).to_have_count(0)
    assert texts_of(editor)["skill_md"] == before.replace("Book it.", "Book the tuner.")
    expect(editor.get_by_role("textbox", name="Instructions", exact=True)).to_be_focused()
    # The text goes back, and with it what was said of it: the comment is open again, at its line.
    editor.keyboard.press("Control+z")
    assert texts_of(editor)["skill_md"] == before
    expect(note.get_by_role("button", name="Accept")).to_be_visible()
    expect(editor.locator(".md-commented").filter(has_text="Book it.")).to_have_count(1)
    editor.keyboard.press("Control+Shift+z")
    expect(note).to_have_count(0)
    save(editor)
    # What is saved has the suggestion by now, and what is shown has not.
    editor.get_by_role("textbox", name="Instructions", exact=True).focus()
    editor.keyboard.press("Control+z")
    expect(note.get_by_role("button", name="Show line")).to_be_visible()
    save(editor)
    editor.reload()
    expect(note.get_by_role("button", name="Accept")).to_be_visible()


def test_a_comment_whose_line_is_gone_is_listed_with_it(editor: Page) -> None:
    put(editor, "skill.md", texts_of(editor)["skill_md"].replace("Ask for the day.", "Entirely other words now"))
    editor.get_by_role("button", name="Save draft").click()
    expect(editor.locator(".save-words")).to_have_text("Saved just now")
    editor.reload()
    expect(_note(editor, "Which day?")).to_contain_text("The line is gone:")
    expect(_note(editor, "Which day?").locator("q")).to_have_text("Ask for the day.")


def test_notes_are_accessible_and_fit(editor: Page) -> None:
    _note(editor, "Which day?").locator("summary").click()
    for width in (390, 1440):
        editor.set_viewport_size({"width": width, "height": 844})
        expect(_note(editor, "Which day?")).to_be_visible()
        assert Axe().run(editor).response["violations"] == []
        assert editor.evaluate("document.documentElement.scrollWidth") == width
    open_file(editor, "skill.md")
    expect(_note(editor, "Which day?")).to_be_hidden()
