"""Git repositories and other registries that are followed."""

from typing import Final

from registry.common.event_type import EventType
from registry.core.jobs.celery_dispatch import IMPORTS
from registry.feature import Feature

_AUDITED_ONLY: Final = ("add", "ask", "change", "fail", "old_secret_end", "remove", "secret", "secret_drop", "sync")

FEATURE: Final = Feature(
    name="sources",
    requires=("credentials",),
    events=(
        EventType("git_source.failing", public="git_source.failing", subject="git_source"),
        EventType("git_source.recovered", public="git_source.recovered", subject="git_source"),
        *(EventType(f"git_source.{verb}") for verb in _AUDITED_ONLY),
    ),
    job_handlers={
        "git_source.sync": "features.sources.source_sync.sync_job",
        "git_source.encrypt": "features.sources.push_webhooks.encrypt_stored",
    },
    daily_jobs=("git_source.encrypt",),
    job_observers={"git_source.sync": "features.sources.source_sync.on_job_state_change"},
    job_queues={"git_source.sync": IMPORTS},
    audit_observers={
        "git_source.failing": ("features.sources.email.write_to_members",),
        "credential.end": ("features.sources.source_sync.stop_without_credential",),
    },
    pages="features.sources.urls",
    addresses="features.sources.addresses",
    navigation="features.sources.navigation.SECTIONS",
    dangerous_actions="features.sources.dangerous_actions.ACTIONS",
    origins="features.sources.source_selectors.list_publishing_sources",
    rights=("features.sources.rights.RIGHTS",),
    secret_fields=("hook_secret", "previous_hook_secret", "read_key"),
    rows_kept={"registry_gitsource": "followed sources"},
)
