"""Who may open the pages of credentials, and what their forms do."""

from features.credentials import credential_store
from tests.factories import OLGA
from tests.feature_pages import FeaturePages


def furnish() -> None:
    """A credential."""
    from registry.common.actors import Actor

    by = Actor("command_line", OLGA.name)
    credential_store.create_credential(name="alpha", hosts=["git.example"], secret="hush", by=by)


PAGES = FeaturePages(
    roles={
        "credential_list": ("admin", "admin"),
        "credential_replace": ("admin", "admin"),
        "credential_open": ("admin", "admin"),
        "credential_end": ("admin", "admin"),
    },
    confirmed={"credential_end": lambda: {"name": "alpha"}},
    harmless={
        "credential_list": "adds a credential, which can be ended",
        "credential_open": "the same button again takes it back",
        "credential_replace": "the secret of before can be entered again",
    },
    ordinary=frozenset({"credential_end"}),
    furnish=furnish,
)
