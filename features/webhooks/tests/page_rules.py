"""Who may open the pages of webhooks, and what their forms do."""

from features.webhooks import webhook_store
from features.webhooks.models import Webhook
from tests.factories import OLGA
from tests.feature_pages import FeaturePages


def furnish() -> None:
    """A webhook with a secret in its address, and a delivery."""
    webhook_store.create_webhook(name="alpha", url="https://hooks.example.com/secret-path", by=OLGA)
    webhook_store.send_test(name="alpha", by=OLGA)


PAGES = FeaturePages(
    roles={
        "webhook_list": ("admin", "admin"),
        "webhook_show": ("admin", None),
        "webhook_change": ("admin", "admin"),
        "webhook_test": ("admin", "admin"),
        "webhook_disable": ("admin", "admin"),
        "webhook_enable": ("admin", "admin"),
        "webhook_redeliver": ("admin", "admin"),
        "webhook_rotate": ("admin", "admin"),
        "webhook_delete": ("admin", "admin"),
    },
    confirmed=dict.fromkeys(("webhook_delete", "webhook_disable", "webhook_rotate"), dict),
    harmless={
        "webhook_change": "the settings can be changed back",
        "webhook_enable": "Disable on the same page",
        "webhook_list": "creates a webhook, which can be deleted",
        "webhook_redeliver": "sends once more with the same id, which receivers ignore",
        "webhook_test": "sends a test event",
    },
    ordinary=frozenset({"webhook_test", "webhook_redeliver"}),
    numbered={"webhook": Webhook},
    furnish=furnish,
)
