"""The RSGI application that granian serves: the WSGI application behind an event loop."""

from __future__ import annotations

# First: it sets Django up, without which no model can be imported.
from studio import wsgi  # isort: skip

import os

from django.conf import settings

from capability_rules.validation.isolation import pool as check_pool
from registry.common.shared_limits import SHARED
from registry.matching import warm_up
from registry.usage import usage_counters
from studio.server.application import Application
from studio.server.gateway_scope import SECRET_VARIABLE
from studio.server.traced_reads import TracedReads
from studio.server.warm_reads import WarmReads

if settings.IS_TRACED:
    from registry.common import tracing_sdk

    tracing_sdk.start("web")
if settings.IS_METERED:
    from registry.common import metrics_sdk

    metrics_sdk.start("web", wsgi.find_metrics())


def _stop() -> None:
    """Before the process ends: what was counted is written, what was traced is sent."""
    usage_counters.flush()
    if settings.IS_TRACED:
        tracing_sdk.flush_until_exit()


application = Application(
    wsgi.application,
    warm_reads=(TracedReads if settings.IS_TRACED else WarmReads)(wsgi.FAST_PATH, settings.TRUSTED_PROXIES),
    threads=settings.WEB_THREADS,
    on_stop=_stop,
    gateway_secret=os.environ.pop(SECRET_VARIABLE, ""),
)
# The first bundle after a start would wait for one.
check_pool.start_ahead()
# The first message after a start would wait for it; warm reads are sent by the gateway meanwhile.
warm_up.start()
# Else the first calls after a start were counted by this process alone.
SHARED.connect_in_background()
