"""What one publish costs as the registry grows: `python bench/publishing.py 150 5000`.

For each size a new data directory with so many capabilities (SQLite), then bundles of about 10 KB with eight tools,
published one by one in one process that has seen none of their sentences: CPU and wall milliseconds, quartiles. One of
which the security checks doubt a sentence is not published, and not counted. Prints a line of JSON a size.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
COUNT = 60
WARM_UP = 3


def main(sizes: list[int]) -> None:
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="bench-publishing-") as directory:
            environment = os.environ | {"DATA_DIR": directory, "EMBEDDER": "none"}
            command = [sys.executable, str(Path(__file__).resolve()), "--in-here", str(size)]
            subprocess.run(command, check=True, env=environment)


def measure(size: int) -> None:
    """In a process of its own, whose settings name the directory."""
    sys.path.insert(0, str(HERE))
    import fill
    from bundles import new_bundle
    from django.core.management import call_command

    from capability_rules.validation.isolation import pool
    from registry.common.actors import SYSTEM
    from registry.publishing import publication

    # Here, so that the CPU time of this process has the checks.
    pool.use_processes(0)
    call_command("migrate", verbosity=0)
    fill.store_in_bulk(range(size), groups=50)
    cpu: list[float] = []
    wall: list[float] = []
    held = 0
    for number in range(size, size + 2 * COUNT):
        if len(cpu) == WARM_UP + COUNT:
            break
        files = new_bundle(number)
        facts = json.loads(files["capability.json"]) | {"intent_triggers": [f"bench {number}", f"question {number}"]}
        cpu_before, wall_before = time.process_time(), time.perf_counter()
        outcome = publication.publish(files=files | {"capability.json": json.dumps(facts)}, by=SYSTEM)
        took = (time.process_time() - cpu_before) * 1000, (time.perf_counter() - wall_before) * 1000
        if any(finding.code == "SEC_HELD" for finding in outcome.findings):
            held += 1
            continue
        cpu.append(took[0])
        wall.append(took[1])
        if outcome.status != "published":
            raise SystemExit(f"{number}: {outcome.status} {[finding.message for finding in outcome.findings]}")
    first, (cpu, wall) = cpu[0], (cpu[WARM_UP:], wall[WARM_UP:])
    row = {"size": size, "cpu_ms": _quartiles(cpu), "wall_ms": _quartiles(wall), "first_cpu_ms": round(first)}
    print(json.dumps(row | {"published": len(cpu), "held": held, "load": os.getloadavg()[0]}))


def _quartiles(values: list[float]) -> list[float]:
    return [round(value, 1) for value in statistics.quantiles(values, n=4)]


if __name__ == "__main__":
    if sys.argv[1] == "--in-here":
        measure(int(sys.argv[2]))
    else:
        main([int(size) for size in sys.argv[1:]])
