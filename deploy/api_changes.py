#!/usr/bin/env python3
"""What changed between two OpenAPI documents: `deploy/api_changes.py OLD NEW`, each a file or `COMMIT:PATH`.

Prints a list in Markdown, first what can break a caller. Exit code 1 where there is such a change.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

METHODS = ("get", "post", "put", "patch", "delete")
# Of an answer, a caller reads; of a request, it writes.
Change = tuple[bool, str]


def read_document(place: str) -> dict[str, Any]:
    """The document of a file, or of a path in a commit of this repository."""
    if Path(place).is_file():
        text = Path(place).read_text("utf-8")
    else:
        text = subprocess.run(["git", "show", place], capture_output=True, text=True, check=True).stdout
    document: dict[str, Any] = yaml.safe_load(text)
    return document


def list_changes(old: dict[str, Any], new: dict[str, Any]) -> list[Change]:
    """Each change as a line, with whether it can break a caller; operations, parameters, bodies, fields, answers."""
    before, after = dict(_operations(old)), dict(_operations(new))
    found = [(True, f"`{name}` is gone") for name in before.keys() - after.keys()]
    found += [(False, f"`{name}` is new") for name in after.keys() - before.keys()]
    for name in before.keys() & after.keys():
        was, now = _Facts(old, before[name]), _Facts(new, after[name])
        found += [(breaks, f"`{name}`: {words}") for breaks, words in was.changes_to(now)]
    return sorted(set(found), key=lambda change: (not change[0], change[1]))


def _operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield f"{method.upper()} {path}", item[method]


class _Facts:
    """What a caller can rely on, of one operation."""

    def __init__(self, document: dict[str, Any], operation: dict[str, Any]) -> None:
        self._document = document
        self.parameters = {
            f"{one['in']} parameter `{one['name']}`": bool(one.get("required"))
            for one in map(self._resolve, operation.get("parameters", []))
        }
        self.sent = dict(self._fields(_schema(self._resolve(operation.get("requestBody", {})))))
        answers = {code: self._resolve(one) for code, one in operation.get("responses", {}).items()}
        self.codes = set(map(str, answers))
        self.received = {
            f"{name}` of {code}": is_required
            for code, one in answers.items()
            for name, is_required in self._fields(_schema(one))
        }

    def changes_to(self, now: _Facts) -> Iterator[Change]:
        yield from _changes(
            self.parameters, now.parameters, gone="{} is gone", required="{} is required", new_words="{} is new"
        )
        words = {
            "gone": "field `{}` is no longer taken",
            "required": "field `{}` is required",
            "new_words": "field `{}` is taken",
        }
        yield from _changes(self.sent, now.sent, **words)
        # Older documents do not say whether an answer always has a field.
        received = dict.fromkeys(self.received, True), dict.fromkeys(now.received, False)
        yield from _changes(*received, gone="field `{} is gone", required="", new_words="field `{} is new")
        for code in sorted(now.codes - self.codes):
            yield False, f"answers {code} too"

    def _resolve(self, part: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in part:
            found: Any = self._document
            for step in part["$ref"].removeprefix("#/").split("/"):
                found = found[step.replace("~1", "/").replace("~0", "~")]
            part = found
        return part

    def _fields(
        self, schema: dict[str, Any], prefix: str = "", seen: tuple[str, ...] = ()
    ) -> Iterator[tuple[str, bool]]:
        reference = schema.get("$ref", "")
        # A schema that contains itself says nothing new within itself.
        if reference in seen:
            return
        seen = (*seen, reference) if reference else seen
        schema = self._resolve(schema)
        for part in (*schema.get("allOf", ()), *schema.get("anyOf", ()), *schema.get("oneOf", ())):
            yield from self._fields(part, prefix, seen)
        for name, below in schema.get("properties", {}).items():
            yield f"{prefix}{name}", name in schema.get("required", ())
            yield from self._fields(below, f"{prefix}{name}.", seen)
        if isinstance(schema.get("items"), dict):
            yield from self._fields(schema["items"], prefix, seen)


def _changes(
    old: Mapping[str, bool], new: Mapping[str, bool], *, gone: str, required: str, new_words: str
) -> Iterator[Change]:
    """Of names and whether each is required."""
    yield from ((True, gone.format(name)) for name in old.keys() - new.keys())
    for name, is_required in new.items():
        if is_required and not old.get(name):
            yield True, required.format(name)
        elif name not in old:
            yield False, new_words.format(name)


def _schema(part: dict[str, Any]) -> dict[str, Any]:
    content = part.get("content", {})
    found: dict[str, Any] = next((one.get("schema", {}) for kind, one in content.items() if "json" in kind), {})
    return found


def main(arguments: list[str]) -> int:
    """See the module's docstring."""
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    changes = list_changes(*map(read_document, arguments))
    for title, is_breaking in (("Callers have to look at", True), ("New", False)):
        print(f"### {title}\n")
        lines = [words for breaks, words in changes if breaks is is_breaking]
        print("\n".join(f"- {words}" for words in lines) or "Nothing.", end="\n\n")
    return int(any(breaks for breaks, _ in changes))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
