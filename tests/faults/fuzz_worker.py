"""`python -m tests.faults.fuzz_worker TARGET [libFuzzer's options] CORPUS`: one target under atheris, until it ends.

atheris instruments what it imports and never returns, so that each target has a process of its own.
"""

from __future__ import annotations

import logging
import os
import sys

import atheris

# What is read, and what it is read with; the rest of the product is loaded as it is.
_INSTRUMENTED = [
    "capability_rules.bundles",
    "capability_rules.validation",
    "capability_rules.agent_skills",
    "yaml",
    "zipfile",
    "tarfile",
    "json",
]


def main() -> None:
    """Instrument, set Django up, and give the target whatever libFuzzer thinks of."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    with atheris.instrument_imports(include=_INSTRUMENTED, enable_loader_override=False):
        import django

        django.setup()
        from tests.faults.fuzz_targets import TARGETS
    # A check that fails logs its traceback, which the target reports by itself.
    logging.disable(logging.CRITICAL)
    atheris.Setup([sys.argv[0], *sys.argv[2:]], TARGETS[sys.argv[1]])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
