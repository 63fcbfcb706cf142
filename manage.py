#!/usr/bin/env python
"""Django's command line. `python3 run.py manage ARGS...` runs it inside `.venv`."""

import os
import sys


def main() -> None:
    """Run one command; a setting that is missing or odd is one sentence and exit code 2, never a traceback."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings")
    from django.core.management import execute_from_command_line

    from studio.environment import ConfigurationError

    try:
        execute_from_command_line(sys.argv)
    except ConfigurationError as error:
        print(error, file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
