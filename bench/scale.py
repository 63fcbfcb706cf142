"""What a registry costs as it grows: `python bench/scale.py 150 5000 10000 50000 [--write]`.

For each size a new data directory (SQLite, no model): the CPU that the matching index takes at first and after each of
five publishes, of one match and one search, in one process; then `serve` is started, matches and lists, and says how
much memory all of its processes take. `--write` stores bench/results/scale.json.

`python bench/scale.py --learn SENTENCES CAPABILITIES` does what the job `matching.learn` works out, without a model.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from measuring import PRODUCT, ROOT, Server, serve

HERE: Final = Path(__file__).resolve().parent
RESULTS: Final = HERE / "results" / "scale.json"
PUBLISHES: Final = 5


def main(arguments: list[str]) -> None:
    rows = []
    for size in (int(argument) for argument in arguments if argument.isdigit()):
        with tempfile.TemporaryDirectory(prefix="bench-scale-") as directory:
            env = os.environ | {"DATA_DIR": directory, "EMBEDDER": "none", "EXAMPLES": "off"}
            inside = [sys.executable, str(Path(__file__).resolve()), "--in-here", str(size)]
            done = subprocess.run(inside, check=True, env=env, stdout=subprocess.PIPE, text=True)
            row = json.loads(done.stdout.splitlines()[-1]) | _served(Path(directory), size)
        rows.append(row | {"load_average": round(os.getloadavg()[0], 1)})
        print(json.dumps(rows[-1]), flush=True)
    if "--write" in arguments:
        RESULTS.write_text("[\n" + ",\n".join(f" {json.dumps(row)}" for row in rows) + "\n]\n")


def measure(size: int) -> dict[str, Any]:
    """In a process of its own, whose settings name the directory."""
    import fill
    from bundles import bundle
    from django.core.management import call_command

    from registry.access import agent_keys
    from registry.common.actors import SYSTEM
    from registry.matching.index import PUBLISHED_INDEX
    from registry.publishing import publication
    from registry.snapshot import current_snapshot

    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    fill.store_in_bulk(range(size), groups=50)
    key = agent_keys.create_key(name="bench", by=SYSTEM, scopes=agent_keys.SCOPES)[1]
    Path(os.environ["DATA_DIR"], "key").write_text(key)
    row = {"size": size, "snapshot_cpu_ms": _cpu(current_snapshot), "first_index_cpu_ms": _cpu(PUBLISHED_INDEX.get)}
    after, match = [], []
    for number in range(size, size + PUBLISHES):
        files = bundle(number, 1)
        facts = json.loads(files["capability.json"]) | {"intent_triggers": [f"bench {number}"]}
        outcome = publication.publish(files=files | {"capability.json": json.dumps(facts)}, by=SYSTEM)
        if outcome.status != "published":
            raise SystemExit(f"{number}: {[finding.message for finding in outcome.findings]}")
        current_snapshot()
        after.append(_cpu(PUBLISHED_INDEX.get))
        match.append(_cpu(lambda: PUBLISHED_INDEX.get().match(f"run bench {number} for me", top=3)))  # noqa: B023
    row["first_search_cpu_ms"] = _cpu(lambda: PUBLISHED_INDEX.get().search.search("bench 7", None))
    row["search_cpu_ms"] = _cpu(lambda: PUBLISHED_INDEX.get().search.search("bench 9", None))
    return row | {"index_after_publish_cpu_ms": after, "match_cpu_ms": round(statistics.median(match), 1)}


def learn(sentences: int, capabilities: int) -> dict[str, Any]:
    """Random sentences of eight words, each capability with words of its own among them."""
    from capability_rules.bundles.profile import CapabilityProfile
    from registry.matching import kernel_classifier
    from registry.matching.example_similarity import ExampleSimilarity, build_training_examples
    from registry.matching.matcher import Matcher

    dice = random.Random(7)
    each = sentences // capabilities
    known = []
    for number in range(capabilities):
        said = [" ".join(f"w{dice.randrange(4000)}" for _ in range(6)) + f" own{number} w{number}" for _ in range(each)]
        known.append(CapabilityProfile(f"c{number:05}", f"Own {number}", sentences=tuple(said)))
    began = time.perf_counter()
    samples = build_training_examples([one.samples for one in known])
    evidence = ExampleSimilarity(samples, None)
    Matcher(known, evidence)
    built = time.perf_counter() - began
    is_fitted = kernel_classifier.can_fit(len(samples.texts), samples.classes)
    began = time.perf_counter()
    if is_fitted:
        evidence.fit()
    fitted = time.perf_counter() - began if is_fitted else None
    return {"sentences": len(samples.texts), "capabilities": capabilities, "index_seconds": round(built, 1),
            "fit_seconds": None if fitted is None else round(fitted, 1)}  # fmt: skip


def _cpu(do: Callable[[], object]) -> float:
    began = time.process_time()
    do()
    return round((time.process_time() - began) * 1000, 1)


def _served(folder: Path, size: int) -> dict[str, Any]:
    """The list and the memory of a server."""
    headers = {"Authorization": f"Bearer {(folder / 'key').read_text()}"}
    env = {"DATA_DIR": str(folder), "EXAMPLES": "off", "RATE_LIMITS": "off", "EMBEDDER": "none"}
    with serve(f"product, {size}", PRODUCT, env, headers) as server:
        match = json.dumps({"message": "run bench 7 for me"}).encode()
        found = {"first_match_ms": _wall(server, "/api/v1/capability_match", match)}
        found["first_list_ms"] = _wall(server, "/api/v1/capability_registry_list")
        time.sleep(3)
        found["warm_list_ms"] = min(_wall(server, "/api/v1/capability_registry_list") for _ in range(5))
        body = server.fetch("/api/v1/capability_registry_list").body
        return found | {"list_bytes": len(body), "memory_mb": round(server.proportional_megabytes())}


def _wall(server: Server, path: str, body: bytes | None = None) -> float:
    began = time.perf_counter()
    headers = {"Content-Type": "application/json"} if body else None
    answer = server.fetch(path, headers, body)
    if answer.status != 200:
        raise SystemExit(f"{path}: {answer.status} {answer.body[:200]!r}")
    return round((time.perf_counter() - began) * 1000, 1)


if __name__ == "__main__":
    if sys.argv[1] == "--in-here":
        print(json.dumps(measure(int(sys.argv[2]))))
    elif sys.argv[1] == "--learn":
        sys.path.insert(0, str(ROOT))
        print(json.dumps(learn(int(sys.argv[2]), int(sys.argv[3]))))
    else:
        main(sys.argv[1:])
