"""`python -m capability_client skills|load|match|doctor|chat|playbook|stubs|docs`; `--help` says the rest."""

from __future__ import annotations

import sys

from capability_client.cli.commands import main


def main_by_old_name() -> int:
    """As `main`, with a word about the name that the command has now."""
    print("agent-client is called capability-client now; this name goes with the next version", file=sys.stderr)
    return main()


if __name__ == "__main__":
    sys.exit(main())
