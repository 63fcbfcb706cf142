"""Django's command line: `manage.py`, `run.py manage` and `capability-studio manage`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from registry.common.installation import PACKAGES_DIR


def manage_command(python: Path, *arguments: str) -> list[str]:
    """The command that runs one of Django's commands with this interpreter."""
    script = PACKAGES_DIR / "manage.py"
    program = [str(script)] if script.is_file() else ["-m", "studio.launcher.manage"]
    return [str(python), *program, *arguments]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command; `arguments` are those of this process by default.

    A setting that is missing or odd is one sentence and exit code 2, never a traceback; a full or read-only disk and a
    damaged database are sentences with the fix, and exit code 1.
    """
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings")
    from django.core.management import execute_from_command_line
    from django.db import DatabaseError

    from studio.config.environment import ConfigurationError

    try:
        execute_from_command_line([sys.argv[0], *(sys.argv[1:] if arguments is None else arguments)])
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
