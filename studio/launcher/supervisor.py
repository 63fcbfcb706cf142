"""`python -m studio.launcher.supervisor ADDRESS PORT COMMAND...`: what `manage.py serve` becomes.

A process of its own with the standard library alone, since Django would take its memory a second time.
"""

from __future__ import annotations

import sys

from studio.launcher.serving import supervise


def main(arguments: list[str]) -> int:
    """Returns the exit code."""
    address, port, *command = arguments
    return supervise(command, address=address, port=int(port))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
