"""How fast one receiver of a webhook gets its events, in order: `python bench/webhooks.py [EVENTS]`.

Publishes bundles while no worker runs, then starts one and counts what arrives.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from measuring import ROOT, Server

ARRIVED: list[tuple[float, str]] = []


class Receiver(BaseHTTPRequestHandler):
    """Answers 200, and keeps what came when."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        ARRIVED.append((time.monotonic(), json.dumps(body)))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing."""


def main(events: int) -> None:
    receiver = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    Thread(target=receiver.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "DATA_DIR": folder, "EXAMPLES": "off", "WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8"}
        manage = [sys.executable, str(ROOT / "manage.py")]
        hook = ["webhook", "create", "bench", "--url", f"http://127.0.0.1:{receiver.server_port}/"]
        for command in (["migrate", "--verbosity", "0"], [*hook, "--events", "capability.published"]):
            subprocess.run([*manage, *command], env=env, check=True, capture_output=True)
        fill = [sys.executable, str(Path(__file__).with_name("fill.py")), str(events)]
        subprocess.run(fill, env=env, check=True, capture_output=True)
        worker = subprocess.Popen([*manage, "worker"], env=env)
        try:
            spent = _await_all(Server("worker", 0, worker, {}), events)
        finally:
            worker.terminate()
            worker.wait(20)
    receiver.shutdown()
    _report(events, spent)


def _await_all(worker: Server, events: int) -> float:
    """The worker's CPU in seconds from the first event to the last."""
    deadline = time.monotonic() + 20 + events
    while not ARRIVED and time.monotonic() < deadline:
        time.sleep(0.005)
    began = worker.cpu_seconds()
    while len(ARRIVED) < events and time.monotonic() < deadline:
        time.sleep(0.02)
    return worker.cpu_seconds() - began


def _report(events: int, cpu_seconds: float) -> None:
    seconds = ARRIVED[-1][0] - ARRIVED[0][0]
    named = [next(number for number in range(events) if f'"bench_{number:03}"' in text) for _, text in ARRIVED]
    pace = (len(ARRIVED) - 1) / seconds
    found = {
        "told": len(ARRIVED),
        "of": events,
        "a_second": round(pace, 1),
        "cpu_ms_each": round(cpu_seconds / len(ARRIVED) * 1000, 1),
        "in_order": named == sorted(named),
    }
    print(json.dumps({**found, "load_average": os.getloadavg()[0]}))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
