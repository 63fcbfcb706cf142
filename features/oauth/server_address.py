"""Where the authorization server is, and whether this one may be it."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from django.conf import settings

from capability_kit.http_address import is_loopback

AUTHORIZE: Final = "/oauth/authorize"
TOKEN: Final = "/oauth/token"  # noqa: S105 (an address)
REGISTER: Final = "/oauth/register"
REVOKE: Final = "/oauth/revoke"
METADATA: Final = "/.well-known/oauth-authorization-server"
RESOURCE_METADATA: Final = "/.well-known/oauth-protected-resource"
MCP: Final = "/mcp"


def find_issuer() -> str:
    """The issuer of this server; empty where there is none, or `OAUTH_ISSUER` names another one."""
    return "" if get_external_issuer() else find_origin()


def get_external_issuer() -> str:
    """The issuer of another authorization server, `OAUTH_ISSUER`; empty where this one is used."""
    return settings.OAUTH_ISSUER or ""


def find_origin() -> str:
    """`PUBLIC_URL`; empty where there is none, or tokens would travel in the clear."""
    address: str = settings.PUBLIC_URL or ""
    parts = urlsplit(address)
    return address if parts.scheme == "https" or is_loopback(parts.hostname or "") else ""


def get_resource() -> str:
    """What tokens are for: the MCP server."""
    return find_origin() + MCP


def is_resource(address: str) -> bool:
    """Whether a client means this resource by an address."""
    return address.removesuffix("/") == get_resource()
