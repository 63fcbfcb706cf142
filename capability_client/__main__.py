"""`python -m capability_client skills|load|match|doctor|chat|playbook|stubs|docs`; `--help` says the rest."""

from __future__ import annotations

import sys

from capability_client.cli.commands import main

if __name__ == "__main__":
    sys.exit(main())
