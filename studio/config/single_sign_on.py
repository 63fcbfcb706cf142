"""Parsers of the settings for OpenID Connect, and of those that name roles."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from capability_kit.http_address import is_loopback
from studio.config.parsers import split_items, split_url

# Those of `registry.models.Operator`, which cannot be imported before Django is set up; a test compares them.
ROLES: Final = ("viewer", "author", "publisher", "admin")


def parse_issuer(text: str) -> str:
    """The provider's issuer URL as its discovery document names it; plain http on this machine alone."""
    expected = "the issuer's URL, for example https://login.example.com/realms/studio"
    parts = split_url(text, expected)
    if parts.username is not None or not parts.hostname or parts.query or parts.fragment:
        raise ValueError(f"is '{text[:80]}': expected {expected}")
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname)):
        raise ValueError(f"begins with '{parts.scheme}': expected {expected} (plain http only for this machine)")
    if "/.well-known/" in parts.path:
        raise ValueError(f"names the discovery document: expected {expected}, without /.well-known/...")
    return text.rstrip("/")


def parse_group_roles(text: str) -> Mapping[str, str]:
    """Pairs such as `studio-admins=admin`, comma separated; the part after the last `=` is the role."""
    roles = {}
    for item in split_items(text):
        group, equals, role = (part.strip() for part in item.rpartition("="))
        if not equals or not group or role not in ROLES:
            raise ValueError(f"has '{item[:80]}': expected pairs such as studio-admins=admin for {', '.join(ROLES)}")
        roles[group] = role
    return MappingProxyType(roles)


def parse_scopes(text: str) -> tuple[str, ...]:
    """Names separated by blanks; `openid` is always among them."""
    scopes = tuple(text.split())
    wrong = next((scope for scope in scopes if not re.fullmatch(r"[\x21\x23-\x5b\x5d-\x7e]{1,100}", scope)), None)
    if wrong is not None:
        raise ValueError(f"has '{wrong[:40]}': expected names separated by blanks, for example openid profile email")
    return tuple(dict.fromkeys(("openid", *scopes)))


def parse_label(text: str) -> str:
    """What a button says, on one line."""
    if len(text) > 40 or not text.isprintable():
        raise ValueError(f"has {len(text)} characters: expected at most 40 on one line, for example Example Login")
    return text


def parse_roles(text: str) -> tuple[str, ...]:
    """Roles of operators, comma separated."""
    roles = tuple(split_items(text))
    wrong = next((role for role in roles if role not in ROLES), None)
    if wrong is not None:
        raise ValueError(f"has '{wrong[:40]}': expected roles of {', '.join(ROLES)}, for example publisher,admin")
    return roles
