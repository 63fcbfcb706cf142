"""Credentials in the text. Read on the author's own text: case matters, and folding would hide it.

The vendors' key formats are in secret_patterns.toml. What says of itself that it is an example (`AKIA...EXAMPLE`,
`sk-...`, `<token>`, "your_key_here", `xxxx`) is none.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from capability_rules.bundles.problem import Severity
from capability_rules.validation.security.engine import RuleHit
from capability_rules.validation.security.literals import find_places
from capability_rules.validation.security.rule_loader import read_toml

_PATTERNS_FILE = Path(__file__).parents[1] / "secret_patterns.toml"


@dataclass(frozen=True, slots=True)
class SecretPattern:
    """A key format: `pattern` is tried where an anchor occurs; its group 1, if it has one, is the secret."""

    says: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]
    least_entropy: float


@cache
def load_secret_patterns() -> tuple[SecretPattern, ...]:
    """The key formats of secret_patterns.toml."""
    return tuple(
        SecretPattern(
            row["description"],
            tuple(row["anchors"]),
            re.compile(r"(?<![A-Za-z0-9])" + row["pattern"]),
            row.get("least_entropy", 3.0),
        )
        for row in read_toml(_PATTERNS_FILE)["patterns"]
    )


_PRIVATE_KEY = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: "
    r"BLOCK)?-----\s{0,4}(?:\\n)?([A-Za-z0-9+/=\s\\:,-]{40,200})"
)
_OMITTED = re.compile(r"(?i)\.\.\.|…|example|omitted|redacted|xxxx|<")
_URL_PASSWORD = re.compile(r"://([^\s:/@\"'`<>{}$]{1,64}):([^\s:/@\"'`<>{}$]{6,128})@([A-Za-z0-9.-]{1,120})")
_ASSIGNED = re.compile(
    r"(?i)(?:password|passwd|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|auth[_-]?key|"
    r"private[_-]?key|credential)s?"
    r"[\"'`*]{0,3}\s{0,3}(?:[:=]|=>|is|ist|:=)\s{0,3}[\"'`*]{0,3}([^\s\"'`<>{}()\[\],;*]{8,120})"
)
# What a match of `_ASSIGNED` begins with.
_ASSIGNED_WORDS = (
    "password", "passwd", "passphrase", "pwd", "secret", "token", "api", "access", "auth", "private", "credential",
)  # fmt: skip
# `nextToken`, `lockToken`, `arn:aws:secretsmanager:...:secret:name`: words that name no secret.
_NO_SECRET = re.compile(
    r"(?i)(?::|next|lock|page|pagination|client|continuation|sync|request|idempotency|max|"
    r"cancellation|resume)[_-]?\Z"
)
_UUID = re.compile(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}.{0,2}")
_AWS_SECRET = re.compile(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])")
_WEB_TOKEN = re.compile(r"eyJ[A-Za-z0-9_-]{10,2000}\.(eyJ[A-Za-z0-9_-]{10,4000})\.[A-Za-z0-9_-]{20,1000}")
_ASSIGNED_ANCHORS = (
    "assw", "wd", "ecret", "oken", "ey", "assphrase", "redential", "ASSW", "WD", "ECRET", "OKEN", "EY", "REDENTIAL",
)  # fmt: skip

_PLACEHOLDER = re.compile(
    r"(?i)example|placeholder|your|change.?me|dummy|sample|redacted|fake|\bfoo|insert|replace|todo|"
    r"put.?your|my.?(?:key|token|secret|"
    r"pass)|xxx|\.\.\.|…|\*\*\*|<|>|\{|\$|%\w|abc.?123|1234567|password|hunter2|secret.?(?:key|"
    r"token|here)|abcdef|not.?a.?real|deadbeef|(.)\1{5}"
)
_LOCAL = re.compile(
    r"(?i)^(?:localhost|127\.|0\.0\.0\.0|\[?::1|host(?:name)?$|db$|postgres$|redis$|mysql$|"
    r"mongo(?:db)?$|.{0,40}example\.(?:com|org|net)$)"
)


def find_secrets(text: str) -> Iterator[RuleHit]:
    """Every credential in a document. The secret itself is never passed on: the quote is its first four characters."""
    for shape in load_secret_patterns():
        yield from _shaped(text, shape)
    if "PRIVATE KEY" in text:
        for match in _PRIVATE_KEY.finditer(text):
            is_omitted = _OMITTED.search(match.group(1) + text[match.end() : match.end() + 3])
            if _entropy(match.group(1)) > 3.5 and not is_omitted:
                yield _hit("SEC_SECRET", "a private key", match.start(), match.end(), "----", "error")
    yield from _web_tokens(text)
    yield from _in_urls(text)
    yield from _aws_secrets(text)
    yield from _assigned(text)


def _shaped(text: str, shape: SecretPattern) -> Iterator[RuleHit]:
    for anchor in shape.anchors:
        at = text.find(anchor)
        while at >= 0:
            match = (
                shape.pattern.match(text, at) if not anchor.startswith(":") else _after_digits(text, at, shape.pattern)
            )
            end = at
            if match:
                end = match.end()
                if _is_real(match.group(match.lastindex or 0), shape.least_entropy):
                    yield _hit("SEC_SECRET", shape.says, at, end, match.group()[:4], "error")
            at = text.find(anchor, max(end, at + 1))


def _after_digits(text: str, at: int, pattern: re.Pattern[str]) -> re.Match[str] | None:
    """A Telegram token is a bot number, a colon, a secret: without the number the colon is any colon."""
    if not re.search(r"\b\d{8,10}\Z", text[max(at - 12, 0) : at]):
        return None
    return re.compile(pattern.pattern.replace(r"(?<![A-Za-z0-9])", "")).match(text, at)


def _web_tokens(text: str) -> Iterator[RuleHit]:
    """JSON Web Tokens: one that names a subject or an end of life was issued to someone, any other is a sample."""
    at = text.find("eyJ")
    while at >= 0:
        match = _WEB_TOKEN.match(text, at)
        if match:
            padded = match.group(1) + "=" * (-len(match.group(1)) % 4)
            claims = base64.urlsafe_b64decode(padded).decode("utf-8", "replace")
            is_issued = re.search(r'"(?:exp|iss|jti|aud|email)"', claims) and "1234567890" not in claims
            if "John Doe" not in claims:
                yield _hit(
                    "SEC_SECRET", "a JSON Web Token", at, match.end(), "eyJ", "error" if is_issued else "warning"
                )
        at = text.find("eyJ", match.end() if match else at + 3)


def _in_urls(text: str) -> Iterator[RuleHit]:
    for match in _URL_PASSWORD.finditer(text):
        if _is_password(match.group(2)) and not _LOCAL.match(match.group(3)):
            yield _hit("SEC_SECRET", "a password in a URL", match.start(2), match.end(2), match.group(2), "error")


def _aws_secrets(text: str) -> Iterator[RuleHit]:
    """An AWS secret key has no marker: 40 characters, near a word that says what they are."""
    for match in _AWS_SECRET.finditer(text) if "secret" in text or "SECRET" in text or "Secret" in text else ():
        said = text[max(match.start() - 60, 0) : match.start()].lower()
        value = match.group()
        mixed = any(c.isdigit() for c in value) and any(c.isupper() for c in value) and any(c.islower() for c in value)
        if "secret" in said and mixed and _is_real(value, 4.0):
            yield _hit("SEC_SECRET", "a 40-character secret key", match.start(), match.end(), value[:4], "error")


def _assigned(text: str) -> Iterator[RuleHit]:
    if not any(anchor in text for anchor in _ASSIGNED_ANCHORS):
        return
    for match in _find_assigned(text):
        if _NO_SECRET.search(text[max(match.start() - 14, 0) : match.start()]):
            continue
        value = match.group(1).rstrip(".:!?")
        is_known = _UUID.fullmatch(value) or _looks_like_code(value)
        if _is_password(value) and _entropy(value) >= 3.2 and not is_known:
            says = "a value that looks like a password or key"
            yield _hit("SEC_POSSIBLE_SECRET", says, match.start(1), match.end(1), value[:4])


def _find_assigned(text: str) -> Iterator[re.Match[str]]:
    """As `finditer`, which is slow: a pattern that minds no case is tried at every character."""
    low = text.lower()
    if len(low) != len(text) or "\u017f" in text:
        yield from _ASSIGNED.finditer(text)
        return
    past = 0
    for at in sorted(at for word in _ASSIGNED_WORDS for at in find_places(low, word)):
        match = _ASSIGNED.match(text, at) if at >= past else None
        if match:
            past = match.end()
            yield match


def _is_real(value: str, least_entropy: float) -> bool:
    return not _PLACEHOLDER.search(value) and _entropy(value) >= least_entropy


def _is_password(value: str) -> bool:
    """Both letters and digits, and not a placeholder: `postgres` and `user-name` are words."""
    kinds = any(c.isdigit() for c in value), any(c.isalpha() for c in value)
    return len(value) >= 8 and all(kinds) and not _PLACEHOLDER.search(value) and _entropy(value) >= 2.8


def _looks_like_code(value: str) -> bool:
    """A name, a path, a version, a URL: `process.env.KEY1`, `./keys/a1.pem`, `sha256:`, `https://`, "token_v2"."""
    if re.search(r"://|^[./~]|\\|^sha\d|^\d[\d.:T+-]*$|::|\.(?:env|json|ya?ml|pem|txt|md|py|ts|js)\b|[|&#@]", value):
        return True
    words = re.split(r"[._\-/=+]", value)
    plain = sum(1 for word in words if re.fullmatch(r"[A-Za-z]+\d{0,3}|\d{1,4}", word) and _is_wordlike(word))
    return plain == len(words)


def _is_wordlike(word: str) -> bool:
    """Letters of one case, or camel case, as identifiers have them; not "Zk9vQ4Qw"."""
    return bool(re.fullmatch(r"[A-Z]?[a-z]*(?:[A-Z][a-z]{2,})*[A-Z]*\d{0,4}|[A-Z]+\d{0,4}", word))


def _entropy(value: str) -> float:
    counts = [value.count(char) for char in set(value)]
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts)


def _hit(code: str, says: str, start: int, end: int, first: str, severity: Severity = "warning") -> RuleHit:
    return RuleHit(code, says, start, end, severity, quote=f"{first[:4]}…")
