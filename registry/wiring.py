"""Who does which kind of job."""

from __future__ import annotations

from typing import Final

from registry.catalog import revalidation
from registry.core import idempotency
from registry.core.jobs.queue import Handler, JobObserver
from registry.matching import training_job
from registry.notifications import email, webhook_delivery
from registry.operations import housekeeping
from registry.publishing import scheduled_releases
from registry.sources import git_import_jobs, skill_uploads, source_sync
from registry.usage import demand, rollup

HANDLERS: Final[dict[str, Handler]] = {
    demand.KIND: demand.prune_messages,
    git_import_jobs.KIND: git_import_jobs.run_import,
    git_import_jobs.PRUNE_KIND: git_import_jobs.prune_imports,
    source_sync.KIND: source_sync.sync_job,
    housekeeping.KIND: housekeeping.prune_jobs,
    training_job.KIND: training_job.train,
    email.KIND: email.send_email,
    housekeeping.DELIVERIES_KIND: housekeeping.prune_deliveries,
    idempotency.KIND: idempotency.prune_records,
    revalidation.KIND: revalidation.revalidate_revision,
    scheduled_releases.KIND: scheduled_releases.publish_scheduled,
    skill_uploads.KIND: skill_uploads.prune_uploads,
    rollup.KIND: rollup.roll_up_loads,
    webhook_delivery.KIND: webhook_delivery.deliver_event,
}
OBSERVERS: Final[dict[str, JobObserver]] = {
    git_import_jobs.KIND: git_import_jobs.on_job_state_change,
    source_sync.KIND: source_sync.on_job_state_change,
    scheduled_releases.KIND: scheduled_releases.on_job_state_change,
    webhook_delivery.KIND: webhook_delivery.on_job_state_change,
}
