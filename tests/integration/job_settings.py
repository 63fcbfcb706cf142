"""The product's settings with short leases, and jobs that a test can watch and hold up."""

from __future__ import annotations

from studio.settings import *  # noqa: F403, TID251 (these are the settings, with a few changed below)
from studio.settings import INSTALLED_APPS  # noqa: TID251

INSTALLED_APPS = [*INSTALLED_APPS, "tests.integration.job_app.JobApp"]
JOB_LEASE_SECONDS = 2.0
JOB_BACKOFF_SECONDS = 0.2
JOB_SWEEP_AFTER_SECONDS = 2.0
