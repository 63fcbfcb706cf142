"""What the editor shows beside the text: nothing in it can run, and nothing is stored."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from capability_kit.prompt import estimate_tokens
from capability_rules.validation import validate_bundle
from registry.models import AuditEvent, Draft
from studio.pages.markdown import render_page
from studio.pages.views.draft import FIELDS
from tests import costs
from tests.factories import Files, bundle, to_json, tool
from tests.servers import ROOT
from tests.unit.studio.conftest import SignIn

pytestmark = pytest.mark.django_db

BASE = "/capabilities/alpha/draft/"
WEIGHTS = {file.name: file.read_text("utf-8") for file in (ROOT / "examples" / "weights").iterdir() if file.is_file()}


CASES = [
    json.loads(file.read_text("utf-8")) for file in sorted((ROOT / "tests" / "data" / "a2ui" / "invalid").glob("*"))
]


@pytest.fixture
def client(signed_in: SignIn) -> Client:
    return signed_in("author")


def _ask(client: Client, path: str, files: Files, **more: str) -> dict[str, Any]:
    answer = client.post(
        f"{BASE}{path}/", {FIELDS[name]: text for name, text in files.items() if name in FIELDS} | more
    )
    assert answer.status_code == 200
    told: dict[str, Any] = answer.json()
    return told


def test_it_shows_the_page_the_prompt_the_answer_and_the_forms_and_stores_nothing(client: Client) -> None:
    told = _ask(client, "preview", WEIGHTS)
    assert "<h2>When to use</h2>" in told["skill_html"]
    assert WEIGHTS["skill.md"].strip() in told["agent"]["prompt"]
    assert told["agent"]["characters"] == len(told["agent"]["prompt"])
    assert told["agent"]["tokens_estimate"] == estimate_tokens(told["agent"]["prompt"])
    loaded = json.loads(told["load"])
    assert (loaded["capability_id"], loaded["tools"]) == ("weights", json.loads(WEIGHTS["tools.json"]))
    assert told["load_bytes"] == len(told["load"].encode())
    form = told["forms"][0]
    assert [next(key for key in one if key != "version") for one in form["messages"]] == [
        "createSurface",
        "updateDataModel",
        "updateComponents",
    ]
    assert (Draft.objects.count(), AuditEvent.objects.filter(verb__startswith="draft").count()) == (0, 0)


@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
def test_a_form_with_an_error_is_never_drawn(case: dict[str, Any], client: Client) -> None:
    files = bundle() | {"ui_schemas.json": to_json(case["ui_schemas"]), "tools.json": to_json(case["tools"])}
    told = _ask(client, "preview", files)
    errors = [one for one in validate_bundle(files).errors if one.file == "ui_schemas.json"]
    wrong = {one.pointer.split("/")[1] for one in errors if one.pointer}
    assert wrong or case["case"] == "doc-ref-unknown"
    for index, form in enumerate(told["forms"]):
        assert (form["messages"] is None) is (str(index) in wrong)


def test_a_form_beside_a_broken_one_is_drawn(client: Client) -> None:
    good = json.loads(WEIGHTS["ui_schemas.json"])
    broken = json.loads(json.dumps(good[0])) | {"schema_id": "Broken.v1"}
    broken["definition"]["components"][0]["child"] = "root"
    files = WEIGHTS | {"ui_schemas.json": to_json([broken, *good])}
    forms = {one["schema_id"]: one["messages"] for one in _ask(client, "preview", files)["forms"]}
    assert forms["Broken.v1"] is None
    assert forms["WeightEntryForm.v1"]
    mapped = {one["schema_id"]: one["definition"] for one in (broken, good[0])}
    forms = {
        one["schema_id"]: one["messages"]
        for one in _ask(client, "preview", WEIGHTS | {"ui_schemas.json": to_json(mapped)})["forms"]
    }
    assert forms["Broken.v1"] is None


@pytest.mark.parametrize(
    "odd", ["", "{", "7", "null", "[1]", '[{"schema_id": 7}]', '{"a": 1}', '[{"schema_id": "A.v1"}]']
)
def test_odd_texts_are_no_error(odd: str, client: Client) -> None:
    for name in FIELDS:
        told = _ask(client, "preview", WEIGHTS | {name: odd})
        assert all(form["messages"] is None for form in told["forms"]) or name != "ui_schemas.json"


HOSTILE = {
    "script": "<script>alert(1)</script>",
    "handler": "<img src=x onerror=alert(1)>",
    "link": "[x](javascript:alert(1)) [y](https://evil.example/?a=1) <https://evil.example>",
    "picture": "![x](https://evil.example/a.png) ![y](data:image/png;base64,AAAA)",
    "reference": '[x]: https://evil.example "t"\n\n[x] ![x]',
    "style": '<style>body{background:url(https://evil.example)}</style><p style="color:red">',
    "quote": '![" onload=alert(1) x="](https://evil.example/") [a](https://evil.example/"onclick="alert(1))',
    "frame": "<iframe src=https://evil.example></iframe><base href=https://evil.example><form action=https://evil.example>",
    "svg": "<svg><script>alert(1)</script></svg><math><mtext></mtext></math>",
    "entities": "&lt;script&gt;alert(1)&lt;/script&gt; &#60;img src=x onerror=alert(1)&#62;",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_markdown_becomes_words(name: str) -> None:
    from html.parser import HTMLParser

    seen: list[tuple[str, dict[str, str | None]]] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            seen.append((tag, dict(attrs)))

    Reader().feed(render_page(HOSTILE[name]))
    assert {tag for tag, _ in seen} <= {"p", "span"}
    assert {key for _, attributes in seen for key in attributes} <= {"class", "title"}


@pytest.mark.slow
def test_the_hostile_skills_of_the_corpus_stay_words() -> None:
    for text in (
        "> " * 5000 + "x",
        "- " * 5000,
        "[" * 20_000,
        "*a_ " * 20_000,
        "`" * 50_000,
        "|a|b|\n|-|-|\n" + "|1|2|\n" * 8000,
    ):
        with costs.at_most(1000):
            assert "<script" not in render_page(text)


def test_a_line_that_begins_with_a_label_stands_alone() -> None:
    said = render_page("**User:** a\n**Agent**: b\nc\n\n- **Do:** it\n  **Say:** so\n")
    assert said.count("<br>") == 2
    assert "a<br>" in said
    assert "it<br>" in said
    assert "<br>" not in render_page("a\n**bold** b\nc **x:** y\n")


def test_a_very_long_text_is_shown_as_it_is() -> None:
    page = render_page("<b>" * 60_000)
    assert page.startswith("<p><em>Only the first 100,000 characters")
    assert "<b>" not in page


ENTRIES = {"entries": [{"measured_on": "2026-01-15", "weight": "186.4", "unit": ["lb"], "note": ""}], "source": "chat"}


def _act(client: Client, action: str, context: Any, schema_id: str = "WeightEntryForm.v1") -> dict[str, Any]:
    return _ask(client, "action", WEIGHTS, schema_id=schema_id, action=action, context=json.dumps(context))


def test_an_action_is_held_against_its_tool(client: Client) -> None:
    told = _act(client, "save_entries", ENTRIES)
    assert told["fits"] is True
    assert told["words"] == "Calls weight_entry_save_batch: write, requires approval."
    assert json.loads(told["arguments"])["entries"][0] == {"measured_on": "2026-01-15", "weight": 186.4, "unit": "lb"}


def test_an_action_that_the_tool_would_refuse_says_why(client: Client) -> None:
    told = _act(client, "save_entries", {**ENTRIES, "entries": [{"weight": "heavy"}]})
    assert told["fits"] is False
    assert "The arguments of weight_entry_save_batch do not fit" in told["words"]


@pytest.mark.parametrize(
    ("action", "context", "schema_id"),
    [("cancel", {}, "WeightEntryForm.v1"), ("nothing", {}, "WeightEntryForm.v1"), ("save_entries", [], "Nobody.v1")],
)
def test_other_actions_are_answered_in_words(action: str, context: Any, schema_id: str, client: Client) -> None:
    told = _act(client, action, context, schema_id)
    assert told["fits"] is (action == "cancel")
    assert told["arguments"] is None


@pytest.mark.parametrize("context", ["", "{", "[" * 5000, '"x"', "7"])
def test_odd_contexts_are_no_error(context: str, client: Client) -> None:
    told = _ask(client, "action", WEIGHTS, schema_id="WeightEntryForm.v1", action="save_entries", context=context)
    assert told["fits"] is False


def test_a_form_is_made_from_a_tool(client: Client) -> None:
    files = bundle(tools=[tool("alpha_save", "write", {"note": {"type": "string", "description": "d"}})])
    told = _ask(client, "form", files, tool="alpha_save")
    assert told["schema_id"] == "AlphaSaveForm.v1"
    assert set(told["texts"]) == {"tools.json", "ui_schemas.json"}
    assert "texts" not in _ask(client, "form", files, tool="nobody")
