"""References against a base, by the examples of RFC 3986 and for schemes that `urljoin` does not know."""

from __future__ import annotations

import pytest

from capability_kit.json_schema.uri import parse_uri, resolve_uri
from tests.sweeps import check_each

# RFC 3986, sections 5.4.1 and 5.4.2, against http://a/b/c/d;p?q
EXAMPLES = {
    "g:h": "g:h", "g": "http://a/b/c/g", "./g": "http://a/b/c/g", "g/": "http://a/b/c/g/", "/g": "http://a/g",
    "//g": "http://g", "?y": "http://a/b/c/d;p?y", "g?y": "http://a/b/c/g?y", "#s": "http://a/b/c/d;p?q#s",
    "g#s": "http://a/b/c/g#s", "g?y#s": "http://a/b/c/g?y#s", ";x": "http://a/b/c/;x", "g;x": "http://a/b/c/g;x",
    "g;x?y#s": "http://a/b/c/g;x?y#s", "": "http://a/b/c/d;p?q", ".": "http://a/b/c/", "./": "http://a/b/c/",
    "..": "http://a/b/", "../": "http://a/b/", "../g": "http://a/b/g", "../..": "http://a/", "../../": "http://a/",
    "../../g": "http://a/g", "../../../g": "http://a/g", "../../../../g": "http://a/g", "/./g": "http://a/g",
    "/../g": "http://a/g", "g.": "http://a/b/c/g.", ".g": "http://a/b/c/.g", "g..": "http://a/b/c/g..",
    "..g": "http://a/b/c/..g", "./../g": "http://a/b/g", "./g/.": "http://a/b/c/g/", "g/./h": "http://a/b/c/g/h",
    "g/../h": "http://a/b/c/h", "g;x=1/./y": "http://a/b/c/g;x=1/y", "g;x=1/../y": "http://a/b/c/y",
    "g?y/./x": "http://a/b/c/g?y/./x", "g?y/../x": "http://a/b/c/g?y/../x", "g#s/./x": "http://a/b/c/g#s/./x",
    "g#s/../x": "http://a/b/c/g#s/../x", "http:g": "http:g",
}  # fmt: skip


def test_uri_reference_resolves_as_the_rfc_says() -> None:
    def check(reference: str) -> None:
        address, fragment = resolve_uri("http://a/b/c/d;p?q", reference)
        assert f"{address}#{fragment}".removesuffix("#") == EXAMPLES[reference]

    check_each(EXAMPLES, check)


@pytest.mark.parametrize(
    ("base", "reference", "resolved"),
    [
        ("urn:x:one", "#/a", ("urn:x:one", "/a")),
        ("urn:x:one", "", ("urn:x:one", "")),
        ("urn:x:one?+r?=q", "#a", ("urn:x:one?+r?=q", "a")),
        ("tag:a.example,2020:b", "#x", ("tag:a.example,2020:b", "x")),
        ("data:,x", "#y", ("data:,x", "y")),
        ("depot://shelf/one", "two#z", ("depot://shelf/two", "z")),
        ("depot://shelf", "two", ("depot://shelf/two", "")),
        ("", "item.json#a", ("item.json", "a")),
        ("item.json", "#a", ("item.json", "a")),
        ("a/b", "../../c", ("c", "")),
    ],
)
def test_uri_reference_resolves_for_every_scheme(base: str, reference: str, resolved: tuple[str, str]) -> None:
    assert resolve_uri(base, reference) == resolved


def test_uri_parts_make_the_same_text_again() -> None:
    for text in ("", "a:b", "//h", "//h/p?q#f", "s://h?#", "?", "#", "/\n", "a b", "ü:ß#☃"):
        assert str(parse_uri(text)) == text
