"""Many publishes at once over HTTP, and what each is answered: `python bench/concurrent_publishes.py 20 --rounds 5`.

The product as users start it (`python3 run.py`); each round so many clients send a new bundle at the same moment, with
`--spinning` processes beside them that use whatever they get. Prints a line of JSON: how many got which status, and the
quartiles and the longest of the seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import threading
import time
from collections import Counter
from pathlib import Path

from bundles import new_bundle
from measuring import spinning
from product import ROOT, Product, start_product


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clients", type=int)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--spinning", type=int, default=0)
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="postgresql")
    parser.add_argument("--root", type=Path, default=ROOT)
    options = parser.parse_args()
    with start_product(options.database, root=options.root.resolve()) as product, spinning(options.spinning):
        row = measure(product, options.clients, options.rounds)
    named = {"database": options.database, "root": options.root.name, "spinning": options.spinning}
    print(json.dumps({**named, **row, "load": os.getloadavg()[0]}))


def measure(product: Product, clients: int, rounds: int) -> dict[str, object]:
    """How the publishes of all rounds ended."""
    statuses: Counter[str] = Counter()
    seconds: list[float] = []
    product.post("/api/v1/operator/bundle_validate", {})

    def publish(number: int, begin: threading.Barrier) -> None:
        files = {name: str(text) for name, text in new_bundle(number).items()}
        facts = json.loads(files["capability.json"]) | {"intent_triggers": [f"bench {number}", f"question {number}"]}
        files["capability.json"] = json.dumps(facts)
        body = {"bundles": [{"path": f"bench {number}", "files": files}], "note": "bench"}
        begin.wait()
        began = time.monotonic()
        status, answer = product.post("/api/v1/operator/bundle_publish", body)
        seconds.append(time.monotonic() - began)
        ended = json.loads(answer)["results"][0]["status"] if status == 200 else answer.decode()[:120]
        statuses[f"{status} {ended}"] += 1

    for at in range(rounds):
        begin = threading.Barrier(clients)
        threads = [threading.Thread(target=publish, args=[at * clients + one, begin]) for one in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    low, middle, high = statistics.quantiles(seconds, n=4)
    named = {"low": low, "middle": middle, "high": high, "longest": max(seconds)}
    return {"statuses": statuses, "seconds": {name: round(value, 2) for name, value in named.items()}}


if __name__ == "__main__":
    main()
