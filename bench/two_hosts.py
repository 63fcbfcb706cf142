"""Two web hosts, a primary with a replica, Redis and nginx, in network namespaces: `sudo python bench/two_hosts.py`.

Measures how fast a publish is seen on both hosts and how many reads nginx passes on; then takes one host after the
other away, while capabilities are loaded and published, and counts what failed and what of the acknowledged was lost.
Writes bench/results/two_hosts.json.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from bundles import bundle
from hosts import ADDRESSES, Network, run, wait_for

RESULTS: Final = Path(__file__).resolve().parent / "results" / "two_hosts.json"
POSTGRESQL: Final = Path("/usr/lib/postgresql/15/bin")
CAPABILITIES: Final = 20
READERS: Final = 3
PAUSE_SECONDS: Final = 0.02
AWAY_SECONDS: Final = 6.0
NGINX: Final = (ADDRESSES["nginx"], 8080)


class Client:
    """One kept connection; what fails is a status of 0, and the next request connects again."""

    def __init__(self, host: str, port: int, key: str, seconds: float = 10) -> None:
        self._place, self._key, self._seconds = (host, port), key, seconds
        self._connection: http.client.HTTPConnection | None = None

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        try:
            if self._connection is None:
                self._connection = http.client.HTTPConnection(*self._place, timeout=self._seconds)
            self._connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = self._connection.getresponse()
            text = response.read()
            return response.status, json.loads(text) if text else None
        except (OSError, http.client.HTTPException, ValueError):
            if self._connection is not None:
                self._connection.close()
            self._connection = None
            return 0, None

    def load(self, number: int) -> tuple[int, Any]:
        return self.ask("GET", f"/api/v1/capability_skill_load?capability_id=bench_{number:03}")

    def publish(self, number: int, word: str) -> tuple[int, dict[str, Any]]:
        """The status, and the row of the result; empty where it was not acknowledged."""
        files = {name: str(text) for name, text in bundle(number, 3).items()}
        facts = json.loads(files["capability.json"]) | {
            "description": f"Published as {word}.",
            "intent_triggers": [f"bench {number}"],
        }
        body = {"bundles": [{"path": f"bench_{number:03}", "files": files | {"capability.json": json.dumps(facts)}}]}
        status, document = self.ask("POST", "/api/v1/operator/bundle_publish", body)
        row = document["results"][0] if status == 200 and document.get("results") else {}
        return status, row if row.get("status") == "published" else {}


class Traffic:
    """Readers and one publisher through nginx, until `stop`: what each call came to."""

    def __init__(self, key: str) -> None:
        self.reads: list[tuple[float, int, float]] = []
        self.publishes: list[tuple[float, int, float]] = []
        self.acknowledged: list[tuple[str, int, str]] = []
        self._ending, self._key = threading.Event(), key
        targets = [self._read] * READERS + [self._publish]
        self._threads = [threading.Thread(target=target, args=[place]) for place, target in enumerate(targets)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._ending.set()
        for thread in self._threads:
            thread.join()

    def _read(self, place: int) -> None:
        client, count = Client(*NGINX, self._key), place
        while not self._ending.wait(PAUSE_SECONDS):
            count += 1
            began = time.monotonic()
            status, _ = client.load(count % CAPABILITIES)
            self.reads.append((began, status, time.monotonic() - began))

    def _publish(self, _: int) -> None:
        client, count = Client(*NGINX, self._key), 0
        while not self._ending.wait(PAUSE_SECONDS * 5):
            count += 1
            began = time.monotonic()
            status, row = client.publish(count % CAPABILITIES, f"{time.time_ns()}")
            self.publishes.append((began, status if row or status != 200 else -1, time.monotonic() - began))
            if row:
                self.acknowledged.append((row["capability_id"], row["revision"], row["digest"]))

    def between(self, calls: list[tuple[float, int, float]], start: float, end: float) -> dict[str, Any]:
        """Counts and seconds of the calls that began in that time."""
        found = [call for call in calls if start <= call[0] < end]
        seconds = sorted(call[2] for call in found) or [0.0]
        failed = [call for call in found if call[1] != 200]
        codes = {str(code): sum(call[1] == code for call in failed) for code in {call[1] for call in failed}}
        return {"calls": len(found), "failed": len(failed), "statuses": codes,
                "p50_ms": round(statistics.median(seconds) * 1000, 1), "max_ms": round(seconds[-1] * 1000)}  # fmt: skip

    def recovered(self, calls: list[tuple[float, int, float]], since: float) -> float | None:
        """The seconds from then to the end of the first call that succeeded after the last one that failed."""
        failed = [call[0] for call in calls if call[0] >= since - AWAY_SECONDS and call[1] != 200]
        if not failed:
            return 0.0
        good = [call[0] + call[2] for call in calls if call[0] > failed[-1] and call[1] == 200]
        return round(max(0.0, good[0] - since), 2) if good else None


def fault(key: str, name: str, lose: Callable[[], object], restore: Callable[[], object]) -> dict[str, Any]:
    """Traffic for some seconds before, during and after; what was acknowledged is kept for `lost`."""
    traffic = Traffic(key)
    traffic.start()
    time.sleep(2)
    begun = time.monotonic()
    lose()
    time.sleep(AWAY_SECONDS)
    back = time.monotonic()
    restore()
    done = time.monotonic()
    time.sleep(AWAY_SECONDS + 2)
    traffic.stop()
    row = {"fault": name, "away_seconds": round(done - begun, 1), "acknowledged": len(traffic.acknowledged)}
    for what, calls in (("reads", traffic.reads), ("publishes", traffic.publishes)):
        row[what] = {"away": traffic.between(calls, begun, back), "after": traffic.between(calls, back, float("inf")),
                     "recovered_seconds": traffic.recovered(calls, back)}  # fmt: skip
    row["lost"] = lost(traffic.acknowledged)
    print(json.dumps(row), flush=True)
    return row


def lost(acknowledged: list[tuple[str, int, str]]) -> int:
    """How many acknowledged publishes are not stored with their digest."""
    query = (
        "SELECT c.capability_id, r.number, r.digest FROM registry_revision r "
        "JOIN registry_capability c ON c.id = r.capability_id"
    )
    for name in ("primary", "replica"):
        done = run("psql", "-h", ADDRESSES[name], "-U", "studio", "studio", "-tAF", "|", "-c", query, check=False)
        is_writable = run(
            "psql", "-h", ADDRESSES[name], "-U", "studio", "studio", "-tAc", "SELECT pg_is_in_recovery()", check=False
        )
        if done.returncode == 0 and is_writable.stdout.strip() == "f":
            rows = {tuple(line.split("|")) for line in done.stdout.splitlines()}
            return sum((name_, str(number), digest) not in rows for name_, number, digest in acknowledged)
    raise SystemExit("no database could be asked")


def visible(key: str, count: int = 60) -> dict[str, Any]:
    """Publishes at the first host: when each host's load shows it, in ms after the acknowledgment."""
    clients = {name: Client(ADDRESSES[name], 8000, key) for name in ("web1", "web2")}
    found: dict[str, list[float]] = {"web1": [], "web2": [], "both": []}
    for number in range(count):
        _, row = clients["web1"].publish(number % CAPABILITIES, f"visible {number}")
        acknowledged = time.monotonic()
        seen: dict[str, float] = {}
        while len(seen) < 2 and time.monotonic() - acknowledged < 5:
            for name in clients.keys() - seen.keys():
                status, document = clients[name].load(number % CAPABILITIES)
                if status == 200 and document["revision"] == row["revision"]:
                    seen[name] = (time.monotonic() - acknowledged) * 1000
        for name in clients:
            found[name].append(seen.get(name, 5000.0))
        found["both"].append(max(found["web1"][-1], found["web2"][-1]))
    return {
        name: {**_percentiles(values), "values_ms": [round(value, 1) for value in values]}
        for name, values in found.items()
    }


def _percentiles(values: list[float]) -> dict[str, float]:
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return {"p50_ms": round(cuts[49], 1), "p99_ms": round(cuts[98], 1), "max_ms": round(max(values), 1)}


def reads_per_second(key: str) -> dict[str, Any]:
    """wrk with 16 connections for 5 s: through nginx, and straight to one host."""
    found = {}
    for name, place in (("nginx", NGINX), ("web1", (ADDRESSES["web1"], 8000))):
        url = f"http://{place[0]}:{place[1]}/api/v1/capability_skill_load?capability_id=bench_000"
        done = run("wrk", "-t2", "-c16", "-d5", "--latency", "-H", f"Authorization: Bearer {key}", url)
        rate = re.search(r"Requests/sec:\s+([\d.]+)", done.stdout)
        wrong = re.search(r"Non-2xx or 3xx responses: (\d+)", done.stdout)
        found[name] = {"per_second": float(rate[1]) if rate else None, "not_2xx": int(wrong[1]) if wrong else 0}
    return found


def faults(network: Network, key: str) -> list[dict[str, Any]]:
    hosts = network.hosts
    rows = [
        fault(key, f"{name} killed, started again", hosts[name].kill, hosts[name].start)
        for name in ("web2", "replica", "redis")
    ]
    rows.insert(
        1, fault(key, "web2 cut off the network, connected again", hosts["web2"].cut_off, hosts["web2"].connect)
    )
    rows.append(fault(key, "primary killed, started again", hosts["primary"].kill, hosts["primary"].start))
    rows.append(fault(key, "primary killed for good, replica promoted", hosts["primary"].kill, network.promote))
    return rows


def main() -> None:
    if os.geteuid() != 0:
        raise SystemExit("needs root, for network namespaces")
    with tempfile.TemporaryDirectory(prefix="two-hosts-") as folder:
        network = Network(Path(folder), POSTGRESQL)
        network.add()
        try:
            network.prepare()
            key = network.manage("agent_key", "create", "bench", "--scopes", "read,publish").strip().splitlines()[-1]
            through = Client(*NGINX, key)
            wait_for(lambda: through.ask("GET", "/api/v1/capability_registry_list")[0] == 200, 60, "the product")
            for number in range(CAPABILITIES):
                through.publish(number, "the first")
            result: dict[str, Any] = {
                "load": os.getloadavg()[0],
                "visible": visible(key),
                "reads": reads_per_second(key),
            }
            print(
                json.dumps(
                    {
                        "reads": result["reads"],
                        "both": {k: v for k, v in result["visible"]["both"].items() if k != "values_ms"},
                    }
                ),
                flush=True,
            )
            result["faults"] = faults(network, key)
            result["load_at_end"] = os.getloadavg()[0]
            RESULTS.write_text(json.dumps(result, indent=1) + "\n")
        finally:
            if sys.exc_info()[0] is not None:
                for log in sorted(Path(folder).glob("*.log")):
                    print(f"== {log.name}", log.read_text(errors="replace")[-1500:], file=sys.stderr)
            network.remove()


if __name__ == "__main__":
    main()
