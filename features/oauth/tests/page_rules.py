"""Who may open the pages of connections, and what their forms do."""

from typing import Any

from features.oauth import connections
from features.oauth.clients import register_client
from features.oauth.models import Connection
from registry.models import Operator
from tests.feature_pages import FeaturePages


def furnish() -> None:
    """A connection of the admin, or of whom there is."""
    operator = Operator.objects.filter(username="the-admin").first() or Operator.objects.first()
    if operator is None:
        return
    client = register_client({"redirect_uris": ["https://assistant.example/callback"]}, address="203.0.113.9")
    connections.allow_client(
        operator=operator,
        client=client,
        redirect_uri="https://assistant.example/callback",
        code_challenge="x" * 43,
        scopes=["read"],
    )


def _about() -> dict[str, Any]:
    return {"key": str(Connection.objects.latest("pk").pk)}


PAGES = FeaturePages(
    roles={
        "connection_list": ("admin", None),
        "connection_allow": ("viewer", "viewer"),
        # Of the admin's own.
        "connection_end": ("admin", "admin"),
    },
    confirmed={"connection_end": _about},
    harmless={"connection_allow": "End connection under Security"},
    ordinary=frozenset({"connection_end"}),
    furnish=furnish,
    own=frozenset({"connection_end"}),
)
