"""The ClawHub protocol of its command line: search, inspect, install, update and publish."""

from typing import Final

from registry.feature import Feature

PRUNE_KIND: Final = "skill_uploads.prune"

FEATURE: Final = Feature(
    name="clawhub",
    job_handlers={PRUNE_KIND: "features.clawhub.skill_uploads.prune_uploads"},
    daily_jobs=(PRUNE_KIND,),
    addresses="features.clawhub.addresses",
)
