"""Who does which kind of job."""

from __future__ import annotations

from typing import Final

from registry import repeats, revalidation
from registry.background import housekeeping
from registry.background.jobs import Follower, Handler
from registry.imports import followed_sources, git_imports, skill_uploads
from registry.matching import learning
from registry.notifications import mail, webhook_jobs
from registry.releases import schedules
from registry.usage import demand, roll_up

HANDLERS: Final[dict[str, Handler]] = {
    demand.KIND: demand.prune,
    git_imports.KIND: git_imports.fetch,
    git_imports.PRUNE_KIND: git_imports.prune,
    followed_sources.KIND: followed_sources.look_again,
    housekeeping.KIND: housekeeping.prune_jobs,
    learning.KIND: learning.learn,
    mail.KIND: mail.send,
    housekeeping.DELIVERIES_KIND: housekeeping.prune_deliveries,
    repeats.KIND: repeats.prune,
    revalidation.KIND: revalidation.revalidate,
    schedules.KIND: schedules.publish_due,
    skill_uploads.KIND: skill_uploads.prune,
    roll_up.KIND: roll_up.roll_up,
    webhook_jobs.KIND: webhook_jobs.deliver,
}
FOLLOWERS: Final[dict[str, Follower]] = {
    git_imports.KIND: git_imports.follow,
    followed_sources.KIND: followed_sources.follow,
    schedules.KIND: schedules.follow,
    webhook_jobs.KIND: webhook_jobs.follow,
}
