#!/usr/bin/env python
"""Django's command line. `python3 run.py manage ARGS...` runs it inside `.venv`."""

import os
import sys


def main() -> None:
    """Run one command.

    A setting that is missing or odd is one sentence and exit code 2, never a traceback; a full or read-only disk and a
    damaged database are sentences with the fix, and exit code 1.
    """
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings")
    from django.core.management import execute_from_command_line
    from django.db import DatabaseError

    from studio.config.environment import ConfigurationError

    try:
        execute_from_command_line(sys.argv)
    except ConfigurationError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    except DatabaseError as error:
        from registry.common.database_errors import PERSISTENT_OUTAGES, classify_error

        outage = classify_error(error)
        if outage not in PERSISTENT_OUTAGES:
            raise
        print(outage.sentences(error), file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
