"""Who may open the page on who sees a capability, and what its forms do."""

from features.sharing import install_codes, share_links
from registry.access import agent_keys
from registry.common.actors import Actor
from registry.models import AgentKey, Capability
from tests.factories import OLGA
from tests.feature_pages import FeaturePages


def furnish() -> None:
    """A share link, and a key that has redeemed the code of alpha."""
    share_links.create_link(name="partner", by=OLGA)
    key = AgentKey.objects.first() or agent_keys.create_key(name="guest", by=OLGA)[0]
    code = Capability.objects.get(capability_id="alpha").install_code
    install_codes.redeem_code(code=code, by=Actor("agent_key", key.name))


PAGES = FeaturePages(
    roles={
        "capability_visibility": ("publisher", "publisher"),
        "install_code_rotate": ("publisher", "publisher"),
        "share_link_create": ("admin", "admin"),
        "share_link_revoke": ("admin", "admin"),
        "first_run_set": ("admin", "admin"),
    },
    confirmed={
        "capability_visibility": lambda: {"visibility": "unlisted"},
        "install_code_rotate": dict,
        "share_link_revoke": lambda: {"name": "partner"},
    },
    harmless={"first_run_set": "Turn off on the same page", "share_link_create": "Revoke on the same page"},
    ordinary=frozenset({"capability_visibility", "install_code_rotate", "first_run_set", "share_link_revoke"}),
    furnish=furnish,
)
