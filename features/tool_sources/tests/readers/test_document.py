import json

import pytest

from capability_rules.errors import SourceUnreadable
from features.tool_sources.readers.document import parse_document


def test_document_reads_json_and_yaml_alike() -> None:
    value = {"openapi": "3.1.0", "paths": {"/a": {"get": {"responses": {"200": {}}}}}}
    assert parse_document(json.dumps(value).encode()) == value
    assert parse_document(b"openapi: 3.1.0\npaths:\n  /a:\n    get:\n      responses:\n        200: {}\n") == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"), ("off", "off"), ("2024-01-02", "2024-01-02"), ("12:30", "12:30"), ("0123", "0123"),
        ("1_000", "1_000"), ("true", True), ("12", 12), ("-1.5e3", -1500.0), ("~", None), ("''", ""), (".", "."),
    ],
)  # fmt: skip
def test_document_reads_yaml_words_as_yaml_1_2(text: str, value: object) -> None:
    assert parse_document(f"a: {text}\n".encode()) == {"a": value}


def test_document_keeps_yaml_keys_as_texts() -> None:
    assert parse_document(b"true: 1\n404: 2\non: 3\n") == {"true": 1, "404": 2, "on": 3}


def test_document_merges_yaml_maps() -> None:
    assert parse_document(b"a: &a {x: 1}\nb:\n  <<: *a\n  y: 2\n")["b"] == {"x": 1, "y": 2}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b" " * 10_000_001, "10,000,001 bytes; at most 10,000,000"),
        (b"  \n", "empty"),
        (b"\xff\xfe{}", "UTF-16"),
        (b'{"a": 1,}', "Line 1, column 9: a key in double quotes|Line 1, column 8: a comma is one too many"),
        (b'{"a": NaN}', "NaN"),
        (b'{"a": 1e999}', "not finite"),
        (b'{"a": "\\u0000"}', "NUL or half a character"),
        (b'{"\\ud800": 1}', "NUL or half a character"),
        (b"a: b: c\n", "Line 1, column 5: a colon is not expected here"),
        (b"a: !!python/object:os.system {}\n", "Line 1, column 4: a tag .* that is not read"),
        (b"? [a]\n: 1\n", "Line 1, column 3: a key is not a word"),
        (b"a: 1\n---\nb: 2\n", "Line 2, column 1: a second document begins here"),
        (b"a:\n\tb: 1\n", "Line 2, column 1: a value cannot begin so: indent with spaces"),
        (b"a: 'b\n", "a quote is opened and never closed"),
        (b"a: [1, 2\n", "a comma or the closing bracket `]` is missing"),
        (b"a: 1\nb: c\x07\n", r"Line 2: the character U\+0007 is not allowed"),
        (b"a: *b\n", "Line 1, column 4: an alias"),
        (b'{"a": "b', "Line 1, column 7: a text begins here"),
        (b'{"a" 1}', "a colon is missing"),
        (b'{"a": 1 "b": 2}', "a comma is missing"),
        (b"{} {}", "Line 1, column 4: the document has ended"),
        (b"a: &a [*a]\n", "back to itself"),
        (b"[" * 100_000, "deeper than 192"),
        (b"[" * 193 + b"]" * 193, "deeper than 192"),
    ],
)  # fmt: skip
def test_document_is_refused_with_the_reason(content: bytes, words: str) -> None:
    with pytest.raises(SourceUnreadable, match=words):
        parse_document(content)


def test_document_refuses_merge_keys_that_unfold_to_too_much_at_their_place() -> None:
    lines = ["a0: &a0 {k: v}", *(f"a{i}: &a{i} {{<<: [*a{i - 1}, *a{i - 1}]}}" for i in range(1, 19))]
    with pytest.raises(SourceUnreadable, match=r"^Line 17, column 6: the merge keys \(<<\) up to here"):
        parse_document("\n".join(lines).encode())


def test_document_refuses_aliases_that_unfold_to_too_much() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    with pytest.raises(SourceUnreadable, match="unfold to more than 5,000,000"):
        parse_document("\n".join(lines).encode())
