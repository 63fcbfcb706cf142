"""What a browser without scripts makes of a page: its forms, and what it would send."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from typing import Any


@dataclass
class Form:
    """`values` are what is in the fields, ready to be changed; `submit` sends them as a browser does."""

    action: str
    method: str
    values: dict[str, Any] = field(default_factory=dict)
    buttons: list[str] = field(default_factory=list)
    # Buttons that send the form elsewhere.
    elsewhere: dict[str, str] = field(default_factory=dict)

    def submit(self, client: Any, **changes: Any) -> Any:
        values = self.values | changes
        sent = {name: _crlf(value) for name, value in values.items()}
        return client.post(self.action, sent) if self.method == "post" else client.get(self.action, sent)


def _crlf(value: Any) -> Any:
    if isinstance(value, list):
        return value
    return str(value).replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\r\n")


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        # What stands outside of its form, which it names by an id, and the forms that have one.
        self.outside: dict[str, Form] = {}
        self.inside: Form | None = None
        # That of the text area or the button that is being read.
        self.owner: Form | None = None
        self.area: str | None = None
        self.select: str | None = None
        self.button = False
        self.formaction = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: C901 (a row a tag)
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.inside = self.outside.setdefault(given.get("id") or str(len(self.forms)), Form("", ""))
            self.inside.action, self.inside.method = given["action"], given.get("method", "get")
            self.forms.append(self.inside)
        form = self.outside.setdefault(given["form"], Form("", "")) if "form" in given else self.inside
        if form is None:
            return
        if tag in ("textarea", "button"):
            self.owner = form
        values = form.values
        if tag == "textarea":
            self.area = given["name"]
            values[self.area] = ""
        elif tag == "select":
            self.select = given["name"]
        elif tag == "option" and self.select and ("selected" in given or self.select not in values):
            values[self.select] = given.get("value", "")
        elif tag == "button":
            self.button = True
            self.formaction = given.get("formaction", "")
        elif tag == "input" and given.get("type") == "radio":
            if "checked" in given:
                values[given["name"]] = given["value"]
        elif tag == "input" and given.get("type") == "checkbox":
            if "checked" in given and "name" in given:
                values.setdefault(given["name"], []).append(given.get("value", "on"))
        elif tag == "input" and "name" in given:
            values[given["name"]] = given.get("value", "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.inside = None
        elif tag == "textarea" and self.owner is not None and self.area is not None:
            # A browser drops one newline at the beginning.
            self.owner.values[self.area] = self.owner.values[self.area].removeprefix("\n")
            self.area = None
        elif tag == "select":
            self.select = None
        elif tag == "button":
            self.button = False

    def handle_data(self, data: str) -> None:
        if self.owner is not None and self.area is not None:
            self.owner.values[self.area] += data
        elif self.owner is not None and self.button:
            self.owner.buttons.append(data.strip())
            if self.formaction:
                self.owner.elsewhere[data.strip()] = self.formaction


def forms_in(response: Any) -> list[Form]:
    """All forms of a page."""
    reader = _Reader()
    reader.feed(response.content.decode())
    return reader.forms


def confirmation_in(response: Any) -> Form:
    """The form of a confirmation page."""
    found = [form for form in forms_in(response) if "seen_state" in form.values]
    assert len(found) == 1, response.content.decode()
    return found[0]


def confirm(client: Any, asked: Any, **changes: Any) -> Any:
    """Press the button of the confirmation page `asked`."""
    return confirmation_in(asked).submit(client, confirmed="yes", **changes)


def ask_and_confirm(client: Any, address: str, about: dict[str, Any] | None = None, **changes: Any) -> Any:
    """Open a confirmation page and press its button."""
    return confirm(client, client.get(address, about or {}), **changes)


def form_with(response: Any, button: str) -> Form:
    """The form that has a button of these words."""
    found = [form for form in forms_in(response) if button in form.buttons]
    assert len(found) == 1, [form.buttons for form in forms_in(response)]
    return replace(found[0], action=found[0].elsewhere.get(button, found[0].action))


def is_publish_blocked(page: str) -> bool:
    """Whether the button that publishes is disabled."""
    return re.search(r"disabled>.{0,200}Publish</button>", page, re.DOTALL) is not None
