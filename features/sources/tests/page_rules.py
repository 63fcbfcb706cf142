"""Who may open the pages of sources, and what their forms do."""

from features.sources import push_webhooks, source_sync
from features.sources.models import GitSource, GitSourceItem
from tests.factories import OLGA
from tests.feature_pages import FeaturePages


def furnish() -> None:
    """A repository whose pushes are signed, with an older secret, and a bundle of it."""
    source = source_sync.add_git_source(spec="https://git.example/skills", mode="draft", every_minutes=60, by=OLGA)
    GitSourceItem.objects.create(source=source, path="unread", files_digest="sha256:", status="draft")
    for _ in range(2):
        push_webhooks.create_push_secret(source_id=source.pk, by=OLGA)


PAGES = FeaturePages(
    roles={
        "source_create": ("admin", "admin"),
        "source_change": ("admin", "admin"),
        "source_look": ("publisher", "publisher"),
        "source_secret": ("admin", "admin"),
        "source_secret_keep": ("admin", "admin"),
        "source_secret_end": ("admin", "admin"),
        "source_secret_drop": ("admin", "admin"),
        "source_remove": ("admin", "admin"),
    },
    confirmed=dict.fromkeys(("source_remove", "source_secret", "source_secret_drop", "source_secret_end"), dict),
    harmless={
        "source_change": "the settings can be changed back",
        "source_create": "Disconnect source",
        "source_look": "queues a check",
        "source_secret_keep": "the secret of the other registry can be entered again; the one before stays for a day",
    },
    ordinary=frozenset({"source_remove", "source_look"}),
    numbered={"source": GitSource},
    furnish=furnish,
)
