"""References of JSON Schemas resolved by RFC 3986, for every scheme.

`urllib.parse.urljoin` resolves against the schemes that it knows and returns the reference alone for all others
(`urn:`, `tag:`, `data:`, an application's own), which no validator does.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

# RFC 3986, appendix B.
_PARTS: Final = re.compile(r"(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)


class Uri(NamedTuple):
    """The parts of a URI reference; None where a part is missing, which is not the same as empty."""

    scheme: str | None
    authority: str | None
    path: str
    query: str | None
    fragment: str | None

    def __str__(self) -> str:
        """Recompose the text (RFC 3986, section 5.3)."""
        return (
            ("" if self.scheme is None else f"{self.scheme}:")
            + ("" if self.authority is None else f"//{self.authority}")
            + self.path
            + ("" if self.query is None else f"?{self.query}")
            + ("" if self.fragment is None else f"#{self.fragment}")
        )


def parse_uri(text: str) -> Uri:
    """Split a URI reference; every text is one as far as this goes."""
    match = _PARTS.fullmatch(text)
    return Uri(*match.groups()) if match else Uri(None, None, text, None, None)


def resolve_uri(base: str, reference: str) -> tuple[str, str]:
    """`(address, fragment)` of a reference against a base (RFC 3986, section 5.2.2); the fragment without its `#`."""
    absolute = _transform(parse_uri(base), parse_uri(reference))
    return str(absolute._replace(fragment=None)), absolute.fragment or ""


def _transform(base: Uri, reference: Uri) -> Uri:
    if reference.scheme is not None:
        return reference._replace(path=_remove_dot_segments(reference.path))
    if reference.authority is not None:
        return reference._replace(scheme=base.scheme, path=_remove_dot_segments(reference.path))
    if not reference.path:
        query = base.query if reference.query is None else reference.query
        return base._replace(query=query, fragment=reference.fragment)
    path = reference.path if reference.path.startswith("/") else _merge(base, reference.path)
    return Uri(base.scheme, base.authority, _remove_dot_segments(path), reference.query, reference.fragment)


def _merge(base: Uri, path: str) -> str:
    """Section 5.2.3: everything up to the last slash of the base, and then the reference."""
    if base.authority is not None and not base.path:
        return f"/{path}"
    return base.path[: base.path.rfind("/") + 1] + path


def _remove_dot_segments(path: str) -> str:
    """Section 5.2.4; a path that has no slash is left alone, as in `urn:a:b`."""
    if "/" not in path:
        return "" if path in (".", "..") else path
    kept: list[str] = []
    segments = path.split("/")
    for index, segment in enumerate(segments):
        if segment == "..":
            if len(kept) > 1 or (kept and kept[0]):
                kept.pop()
        elif segment != ".":
            kept.append(segment)
            continue
        if index == len(segments) - 1:
            kept.append("")
    return "/".join(kept)
