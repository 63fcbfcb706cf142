"""Markup that runs is found where a reader would render it, and nowhere else."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from capability_rules.validation.security.code_spans import find_code_spans
from capability_rules.validation.security.scanner import check_texts
from capability_rules.validation.security.text_corpus import AuthorText, find_json_texts

IMAGE = "<img src=x onerror=alert(1)>"


def _codes(file: str, text: str) -> set[str]:
    return {found.code for found in check_texts([AuthorText(file, (), text)])}


@pytest.mark.parametrize("file", ["skill.md", "references/a.md", "assets/logo.svg"])
def test_files_that_are_rendered_are_read(file: str) -> None:
    (found,) = check_texts([AuthorText(file, (), f"<svg>\n{IMAGE}\n</svg>")])
    assert (found.code, found.file, found.offset) == ("SEC_ACTIVE_MARKUP", file, 6)


@pytest.mark.parametrize(
    "file", ["assets/page.html", "scripts/app.js", "scripts/a.py", "assets/data.json", "references/a.txt"]
)
def test_programs_and_pages_are_left_alone(file: str) -> None:
    assert "SEC_ACTIVE_MARKUP" not in _codes(file, f"<script>run()</script>{IMAGE}")


def test_of_json_the_descriptions_are_read() -> None:
    tools = [
        {
            "name": "html_clean",
            "description": f"Cleans {IMAGE}",
            "args_schema": {"properties": {"page": {"default": IMAGE, "title": f"Page {IMAGE}", "examples": [IMAGE]}}},
        }
    ]
    found = [
        each.path for each in check_texts(find_json_texts("tools.json", tools)) if each.code == "SEC_ACTIVE_MARKUP"
    ]
    assert found == [(0, "description"), (0, "args_schema", "properties", "page", "title")]


def test_a_description_may_show_code() -> None:
    for text in (f"```html\n{IMAGE}\n```", f"An example:\n\n    {IMAGE}", f"Such as `{IMAGE}`."):
        tools = find_json_texts("tools.json", [{"name": "html_clean", "description": text}])
        assert not [each for each in check_texts(tools) if each.code == "SEC_ACTIVE_MARKUP"], text


def test_a_fence_ends_where_a_renderer_ends_it() -> None:
    """A line that only looks like the end of a fence hides nothing behind the real one."""
    assert "SEC_ACTIVE_MARKUP" in _codes("skill.md", f"```\na\n```x\n```\n{IMAGE}\n")
    assert "SEC_ACTIVE_MARKUP" in _codes("skill.md", f"```a```\n\n{IMAGE}\n")
    assert "SEC_ACTIVE_MARKUP" not in _codes("skill.md", f"````\n```\n{IMAGE}\n```\n````\n")


def test_backticks_of_two_list_items_are_no_code_span() -> None:
    assert "SEC_ACTIVE_MARKUP" in _codes("skill.md", f"- one ` here\n- {IMAGE} and ` there\n")
    assert "SEC_ACTIVE_MARKUP" in _codes("skill.md", f"one ` here\n` {IMAGE} `\n")


@given(st.text(alphabet="`\\\\ab ", max_size=30))
def test_code_spans_are_those_of_commonmark(text: str) -> None:
    line = "x" + text + "x"
    edges = find_code_spans(line, re.compile(r"\n"))
    spans = [line[start:end].strip("`") for start, end in zip(edges[::2], edges[1::2], strict=True)]
    tokens = MarkdownIt("commonmark").parse(line)[1].children or []
    rendered = [token.content for token in tokens if token.type == "code_inline"]
    assert len(spans) == len(rendered)
    assert ["".join(span.split()) for span in spans] == ["".join(text.split()) for text in rendered]
