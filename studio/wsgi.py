"""The WSGI application that granian serves."""

from __future__ import annotations

import os
import sys

from django.core.wsgi import get_wsgi_application

from studio.environment import ConfigurationError

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings")

try:
    application = get_wsgi_application()
except ConfigurationError as error:
    print(error, file=sys.stderr)
    sys.exit(2)

from registry.snapshot import watch

# Each worker process keeps its own snapshot, and this module is loaded once in each.
watch.start()
