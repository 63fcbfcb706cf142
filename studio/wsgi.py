"""The WSGI application that granian serves."""

from __future__ import annotations

import os
import sys

from django.core.wsgi import get_wsgi_application

from studio.environment import ConfigurationError

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings")

try:
    _django = get_wsgi_application()
except ConfigurationError as error:
    print(error, file=sys.stderr)
    sys.exit(2)

from collections.abc import Iterable
from typing import Any

from django.conf import settings

from agent_api.fast_path import FastPath
from registry.postgresql.bounds import BOUNDS
from registry.snapshot import watch
from studio.proxies import apply_forwarding

# A thread that works something out holds the interpreter for 5 ms at a time by default, and a read that needs a
# twentieth of a millisecond waits for that at each turn. Measured beside two busy clients: docs/performance.md.
sys.setswitchinterval(0.0002)
_fast_path = FastPath(_django)


def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """The hot path in front of Django; both see the client as the trusted proxy saw it."""
    apply_forwarding(environ, settings.TRUSTED_PROXIES)
    return _fast_path(environ, start_response)


# From here on requests are answered, which nothing may hold up for long.
BOUNDS.is_serving = True
# Each worker process keeps its own snapshot, and this module is loaded once in each.
watch.start()
