"""Who may open the pages of sets, and what their forms do."""

from features.sets import set_store
from features.sharing import share_links
from registry.common.actors import Actor
from tests.factories import OLGA
from tests.feature_pages import FeaturePages


def furnish() -> None:
    """A set of alpha, named as a capability is, with a share link."""
    values = {"set_id": "alpha", "name": "Desk", "description": "What the desk needs."}
    set_store.save_set(values | {"members": [{"capability_id": "alpha"}]}, by=Actor("command_line", "root"))
    share_links.create_link(name="desk link", set_id="alpha", by=OLGA)


PAGES = FeaturePages(
    roles={
        "set_new": ("publisher", "publisher"),
        "set_edit": ("publisher", "publisher"),
        "set_pin": ("publisher", "publisher"),
        "set_delete": ("publisher", "publisher"),
        "connect_link_revoke": ("admin", "admin"),
        "connect_show": ("viewer", "viewer"),
        "connect_key_create": ("admin", "admin"),
        "connect_link_create": ("admin", "admin"),
    },
    confirmed={"set_delete": dict, "connect_link_revoke": lambda: {"name": "desk link"}},
    harmless={
        "connect_show": "chooses what the page shows",
        "set_new": "adds a set, which can be deleted",
        "set_edit": "the set can be changed back",
        "set_pin": "the revision can be chosen again",
        "connect_key_create": "adds a key, which can be revoked",
        "connect_link_create": "adds a link, which can be revoked",
    },
    ordinary=frozenset({"set_new", "set_edit", "set_pin", "set_delete", "connect_link_revoke", "connect_show"}),
    furnish=furnish,
)
