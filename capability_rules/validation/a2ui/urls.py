"""Which addresses a form may load or open: https, and nothing that a browser could run."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from capability_rules.bundles.problem import Path, RawFinding
from capability_rules.validation.a2ui.budget import build_finding, quote_value

MEDIA = ("Image", "Video", "AudioPlayer")


def check_url(path: Path, url: str, owner: str) -> Iterator[RawFinding]:
    """Check a literal address."""
    if not is_https(url):
        message = f"{owner}: expected an address that begins with https://; found {quote_value(url)}"
        hint = "Write a full https:// address, or bind it with a path."
        yield build_finding("UI_URL_NOT_ALLOWED", path, message, hint)


def check_url_expression(path: Path, text: str, owner: str) -> Iterator[RawFinding]:
    """Check the address that formatString will put together: what is fixed at its start must be https."""
    if not text.startswith("${") and not text.lower().startswith("https://"):
        message = f"{owner}: expected an address that begins with https://; found {quote_value(text)}"
        yield build_finding("UI_URL_NOT_ALLOWED", path, message, "Begin the text with https://.")


def is_https(url: str) -> bool:
    """Whether `url` is an https address with a host, and has no space or control character in it."""
    if any(ord(character) <= 32 or ord(character) == 127 for character in url):
        return False
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme == "https" and bool(parts.hostname)
