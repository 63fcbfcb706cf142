"""The product's settings, with a job behind every publish: Celery is told of each."""

from __future__ import annotations

from studio.settings import *  # noqa: F403, TID251 (these are the settings, with a few changed below)
from studio.settings import INSTALLED_APPS  # noqa: TID251

INSTALLED_APPS = [*INSTALLED_APPS, "tests.integration.telling_app.TellingApp"]
