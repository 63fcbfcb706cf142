"""What is copied in Word, a mail, a document or a web page and pasted into the instructions: Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.steps import AUTOSAVE_OFF, choose, create, open_document, open_file, open_form, put, texts_of
from tests.sweeps import check_each

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]
SKILL = "# Desk\n\n## When to use\n\nAlways.\n\n## Default behavior\n\n## Examples\n\nNone.\n"
# As Word puts it on the clipboard: a list is paragraphs, its mark is in a part that says to ignore it.
WORD_ITEM = (
    "<p class=MsoListParagraph style='text-indent:-.25in;mso-list:l0 level{level} lfo1'><![if !supportLists]>"
    "<span style='font-family:Symbol'><span style='mso-list:Ignore'>{mark}<span style='font:7.0pt \"Times New Roman\"'>"
    "&nbsp;&nbsp; </span></span></span><![endif]>{words}<o:p></o:p></p>"
)


def _word(*items: tuple[int, str, str]) -> str:
    rows = "\n\n".join(WORD_ITEM.format(level=level, mark=mark, words=words) for level, mark, words in items)
    head = "<head><style>p.MsoListParagraph {margin: 0}</style></head>"
    return f"<html>{head}<body lang=EN-US><!--StartFragment-->{rows}<!--EndFragment--></body></html>"


PASTES = {
    "a list of Word": (
        _word(
            (1, "·", "Ask for the <b>room</b>"), (2, "o", "and the floor"), (1, "§", "Check it"), (1, "·", "Send it")
        ),
        "- Ask for the **room**\n   - and the floor\n- Check it\n- Send it",
    ),
    "a numbered list of Word": (_word((1, "1.", "First"), (1, "2.", "Second")), "1. First\n2. Second"),
    "a table": (
        "<table><tr><td><p>Size</p></td><td><p>Price | day</p></td></tr><tr><td>S</td><td>10</td></tr></table>",
        "| Size | Price \\| day |\n| --- | --- |\n| S | 10 |",
    ),
    "a web page": (
        (
            "<h2>Returns</h2><p>See <a href='https://shop.example/a (b)'>the rules</a>, or\nwrite.</p>"
            "<ul><li>Within <em>14</em> days<ol><li>by mail</li><li>by hand</li></ol></li><li><p>Unused</p></li></ul>"
        ),
        (
            "## Returns\n\nSee [the rules](https://shop.example/a%20%28b%29), or write.\n\n"
            "- Within *14* days\n  1. by mail\n  2. by hand\n- Unused"
        ),
    ),
    "a document of Google": (
        (
            "<b style='font-weight:normal' id='docs-internal-guid-1'><p><span style='font-weight:700'>Bold </span>"
            "<span style='font-weight:400'>plain</span></p><ul><li><p>One</p></li></ul></b>"
        ),
        "**Bold** plain\n\n- One",
    ),
    "headings below the title": (
        "<h1>One</h1><p>a</p><h3>Two</h3><p># no heading</p>",
        "## One\n\na\n\n#### Two\n\n\\# no heading",
    ),
    "hidden parts and scripts": (
        "<p><b>Shown</b><span style='display:none'>hidden</span><script>x()</script></p><p>\u200b&nbsp;</p>",
        "**Shown**",
    ),
    "a quotation and code": (
        "<blockquote><p>Said</p></blockquote><pre>a\n  b</pre><p>call <code>desk_list</code></p>",
        "> Said\n\n```\na\n  b\n```\n\ncall `desk_list`",
    ),
}
# Nothing of these is structure: what the browser pastes by itself is the plain text.
PLAIN = {
    "plain": "<p>only words</p><div>in boxes</div>",
    "an editor of code": "<div style='font-family: Menlo, monospace'><div><b>const</b> x</div></div>",
    "a layout table of one cell": "<div>x</div>",
    "deep": "<div>" * 3000 + "x" + "</div>" * 3000,
}


@pytest.fixture
def editor(as_role: Callable[[str], Page], studio: Studio) -> Page:
    page = as_role("publisher")
    page.context.add_init_script(AUTOSAVE_OFF)
    create(page, studio.url, f"pasting_{id(page)}")
    put(page, "skill.md", SKILL)
    return page


def test_a_column_pasted_into_triggers_is_one_trigger_a_line(editor: Page) -> None:
    form = open_form(editor, "capability.json")
    field = form.get_by_role("textbox", name="Trigger phrases")
    field.fill("clean room")
    assert _paste(field, "", plain="more towels\r\n\u200bextra pillow, please\r\nmore towels\r\n")
    triggers = json.loads(texts_of(editor)["capability_json"])["intent_triggers"]
    assert triggers[-3:] == ["clean room", "more towels", "extra pillow, please"]
    # One phrase is put in by the browser, to be completed.
    assert not _paste(form.get_by_role("textbox", name="Trigger phrases"), "", plain="late checkout")


def _paste(field: Locator, html: str, *, plain: str = "plain") -> bool:
    """Whether the page took it; a paste that a script makes is not done by the browser itself."""
    field.focus()
    return bool(
        field.evaluate(
            """(field, [html, plain]) => {
                const data = new DataTransfer();
                if (html) data.setData("text/html", html);
                data.setData("text/plain", plain);
                const target = document.activeElement;
                const made = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
                return !target.dispatchEvent(made);
            }""",
            [html, plain],
        )
    )


def test_formatted_text_is_pasted_as_markdown_into_the_document(editor: Page) -> None:
    document = open_document(editor)

    def check(name: str) -> None:
        html, markdown = PASTES[name]
        put(editor, "skill.md", SKILL)
        _go_to_section(editor, 1)
        assert _paste(document, html)
        assert re.search(rf"## Default behavior\n+{re.escape(markdown)}\n\n## Examples", texts_of(editor)["skill_md"])

    check_each(PASTES, check)
    expect(editor.locator("#editor-said")).to_contain_text("Pasted as Markdown")


def _go_to_section(editor: Page, number: int) -> None:
    editor.locator(f"#outline a[data-file='skill.md'][data-part='/{number}']").click()


def test_what_has_no_structure_is_pasted_as_plain_text(editor: Page) -> None:
    document = open_document(editor)
    for name, html in PLAIN.items():
        put(editor, "skill.md", SKILL)
        _go_to_section(editor, 1)
        _paste(document, html, plain="only words")
        assert "only words\n" in texts_of(editor)["skill_md"], name
        expect(editor.locator("#editor-said")).to_be_hidden()


def test_a_list_pasted_into_a_sentence_stands_apart_and_is_undone_in_one_step(editor: Page) -> None:
    document = open_document(editor)
    _go_to_section(editor, 0)
    editor.keyboard.press("End")
    assert _paste(document, "<ul><li>One</li><li>Two</li></ul>")
    assert "Always.\n\n- One\n- Two\n" in texts_of(editor)["skill_md"]
    editor.keyboard.press("Control+z")
    assert texts_of(editor)["skill_md"] == SKILL


def test_the_code_takes_markdown_with_its_headings_and_code_stays_code(editor: Page) -> None:
    put(editor, "skill.md", "# Desk\n\n```\nx\n```\n")
    choose(editor, "skill.md")
    area = open_file(editor, "skill.md")
    area.press("Control+End")
    assert _paste(area, "<h2>When to use</h2><ul><li>Now</li></ul>")
    assert texts_of(editor)["skill_md"] == "# Desk\n\n```\nx\n```\n\n## When to use\n\n- Now"
    area.press("Control+Home")
    for _ in range(3):
        area.press("ArrowDown")
    before = texts_of(editor)["skill_md"]
    _paste(area, "<ul><li>Not a list here</li></ul>")
    assert "- Not a list here" not in texts_of(editor)["skill_md"]
    assert before.startswith("# Desk")


def test_typing_is_undone_by_pauses_and_not_by_letters(editor: Page) -> None:
    open_document(editor)
    _go_to_section(editor, 0)
    editor.keyboard.press("End")
    editor.keyboard.type(" Ask for the room", delay=20)
    editor.wait_for_timeout(1200)
    editor.keyboard.type(" and the floor.", delay=20)
    assert "Always. Ask for the room and the floor.\n" in texts_of(editor)["skill_md"]
    editor.keyboard.press("Control+z")
    assert "Always. Ask for the room\n" in texts_of(editor)["skill_md"]
    editor.keyboard.press("Control+z")
    assert texts_of(editor)["skill_md"] == SKILL
