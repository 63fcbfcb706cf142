"""The promises of docs/promises.md under faults: `python -m tests.faults SCENARIO ...`, with real processes.

Every scenario starts the product on a new registry, injects its fault while writers and readers are at work, and then
asks whether what was acknowledged is there and whole. It prints one line a scenario, for the table of that page, and
exits with 1 where a promise was broken.
"""

from __future__ import annotations

import argparse
import sys

from tests.faults.scenarios import SCENARIOS


def main() -> int:
    """Run the scenarios that are named, or all; 1 where a promise was broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help=f"of {', '.join(SCENARIOS)}; all by default")
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=600, help="no new round of kills after these; of fuzz, in all")
    parser.add_argument("--away-seconds", type=float, default=20)
    parser.add_argument("--minutes", type=float, default=10, help="of the soak")
    parser.add_argument("--pause", type=float, default=0, help="seconds between two calls of a client of the soak")
    parser.add_argument("--old", default="HEAD~1", help="the revision that is upgraded from")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", action="append", help="of fuzz; may be given several times, all by default")
    parser.add_argument("--corpus", help="a folder for what fuzz keeps, to go on from the next time")
    options = parser.parse_args()
    unknown = set(options.scenarios) - set(SCENARIOS)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    is_broken = False
    for name in options.scenarios or [name for name in SCENARIOS if name != "fuzz"]:
        words, faults = SCENARIOS[name](options.database, options)
        is_broken = is_broken or bool(faults)
        print(f"{name} ({options.database}): {words}; {len(faults)} faults", flush=True)
        for fault in faults[:20]:
            print(f"  FAULT {fault}", flush=True)
    return 1 if is_broken else 0


if __name__ == "__main__":
    sys.exit(main())
