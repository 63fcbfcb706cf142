"""The WSGI application: the hot path in front of Django. `studio.rsgi` puts it behind granian's event loop."""

from __future__ import annotations

import os
import sys

from django.core.wsgi import get_wsgi_application

from studio.config.environment import ConfigurationError

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings")

try:
    _django = get_wsgi_application()
except ConfigurationError as error:
    print(error, file=sys.stderr)
    sys.exit(2)

from collections.abc import Iterable
from typing import Any, Final

from django.conf import settings
from prometheus_client import CollectorRegistry

from agent_api.fast_path import FastPath
from registry.common.postgresql.circuit_breaker import CIRCUIT_BREAKER
from registry.snapshot import watcher
from registry.usage import usage_counters
from studio.middleware.proxies import apply_forwarding

# A thread that works something out holds the interpreter for 5 ms at a time by default, and a read that needs a
# twentieth of a millisecond waits for that at each turn.
sys.setswitchinterval(0.0002)
FAST_PATH: Final = FastPath(_django)
__all__ = ["FAST_PATH", "application", "find_metrics"]
usage_counters.add_source(FAST_PATH.collect)


def find_metrics() -> CollectorRegistry:
    """What `/metrics` shows. Imported where it is asked for: the first request brings it anyway, no start waits."""
    from agent_api.metrics.exposition import collect_from

    return collect_from()


def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """The hot path in front of Django; both see the client as the trusted proxy saw it."""
    apply_forwarding(environ, settings.TRUSTED_PROXIES)
    return FAST_PATH(environ, start_response)


# From here on requests are answered, which nothing may hold up for long.
CIRCUIT_BREAKER.is_serving = True
# Each worker process keeps its own snapshot, and this module is loaded once in each.
watcher.start_watcher()
