"""What the packages of the registry do for each other across layers. The only module that may name all of them.

Everything is a dotted path, imported on first use.
"""

from __future__ import annotations

from typing import Final

from registry.core import audit
from registry.core.hooks import Hook
from registry.core.jobs import queue
from registry.feature import EVERY_VERB, installed_features
from registry.publishing import events

HANDLERS: Final = {
    "demand.prune": "registry.usage.demand.prune_messages",
    "file_contents.prune": "registry.core.file_contents.prune_contents",
    "history.checkpoint": "registry.operations.verification.verify.checkpoint_job",
    "import.git": "registry.importing.git_import_jobs.run_import",
    "import.prune": "registry.importing.git_import_jobs.prune_imports",
    "jobs.prune": "registry.operations.housekeeping.prune_jobs",
    "mail.send": "registry.notifications.email.send_email",
    "matching.learn": "registry.matching.training_job.train",
    "outcome_report.prune": "registry.usage.outcome_reports.prune_reports",
    "release.publish": "registry.publishing.scheduled_releases.publish_scheduled",
    "repeats.prune": "registry.core.idempotency.prune_records",
    "revalidate": "registry.catalog.revalidation.revalidate_revision",
    "second_factor.encrypt": "registry.access.second_factors.encrypt_stored",
    "session.prune": "registry.operations.housekeeping.prune_sessions",
    "usage.rollup": "registry.usage.rollup.roll_up_loads",
}
OBSERVERS: Final = {
    "import.git": "registry.importing.git_import_jobs.on_job_state_change",
    "release.publish": "registry.publishing.scheduled_releases.on_job_state_change",
}


def wire() -> None:
    """Register every function; a second call changes nothing."""
    queue.HANDLERS.update(HANDLERS)
    queue.OBSERVERS.update(OBSERVERS)
    for feature in installed_features():
        queue.HANDLERS.update(feature.job_handlers)
        queue.OBSERVERS.update(feature.job_observers)
    audit.RECORDED.register("registry.notifications.email.on_audit_event")
    erased = audit.RECORDED_VERBS.setdefault("operator.disable", Hook())
    erased.register("registry.usage.outcome_reports.erase_of_member")
    for feature in installed_features():
        for verb, paths in feature.audit_observers.items():
            hook = audit.RECORDED if verb == EVERY_VERB else audit.RECORDED_VERBS.setdefault(verb, Hook())
            hook.register(*paths)
        events.IMPORTED.register(*feature.import_observers)
    events.SUPERSEDED.register("registry.publishing.scheduled_releases.cancel_pending")
