"""Webhooks: other systems that receive events."""

from typing import Final

from django.utils.translation import gettext_lazy

from registry.common.event_type import EventType
from registry.core.jobs.celery_dispatch import CeleryQueue
from registry.feature import EVERY_VERB, Feature, SectionTab

_AUDITED_ONLY: Final = ("change", "create", "delete", "enable", "redeliver", "rotate_secret", "test")

FEATURE: Final = Feature(
    name="webhooks",
    events=(
        EventType("webhook.disable", public="webhook.disabled", subject="webhook"),
        *(EventType(f"webhook.{verb}") for verb in _AUDITED_ONLY),
    ),
    job_handlers={
        "webhook.deliver": "features.webhooks.webhook_delivery.deliver_event",
        "webhook.prune": "features.webhooks.webhook_delivery.prune_deliveries",
    },
    job_observers={"webhook.deliver": "features.webhooks.webhook_delivery.on_job_state_change"},
    job_queues={"webhook.deliver": CeleryQueue("studio.webhooks", soft_seconds=60, hard_seconds=90)},
    daily_jobs=("webhook.prune",),
    audit_observers={EVERY_VERB: ("features.webhooks.webhook_events.on_audit_event",)},
    pages="features.webhooks.urls",
    section_tabs=(
        SectionTab(
            "studio:operator_list",
            gettext_lazy("Webhooks"),
            "studio:webhook_list",
            after="studio:agent_key_list",
            shortcut="w",
            right="administer",
            around=("studio:webhook",),
        ),
    ),
    dangerous_actions="features.webhooks.dangerous_actions.ACTIONS",
    # Addresses often carry a secret in their path.
    secret_fields=("secret", "previous_secret", "Webhook.url"),
    rows_kept={"registry_webhook": "webhooks"},
)
