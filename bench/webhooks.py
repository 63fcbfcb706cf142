"""How fast one receiver gets the events of releases, and whether in order: `python bench/webhooks.py`.

A new data directory (SQLite), a receiver on loopback that answers at once, a worker of its own; counted from the first
event that arrives to the last. Prints a line of JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
EVENTS = 200
SECONDS_MAX = 300


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="bench-webhooks-") as directory:
        environment = os.environ | {
            "DATA_DIR": directory, "EMBEDDER": "none", "WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8",
        }  # fmt: skip
        arrived: list[tuple[float, int]] = []
        receiver = ThreadingHTTPServer(("127.0.0.1", 0), _handler(arrived))
        threading.Thread(target=receiver.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{receiver.server_port}/"
        subprocess.run([sys.executable, __file__, "--fill", url], check=True, env=environment)
        worker = subprocess.Popen([sys.executable, str(ROOT / "manage.py"), "worker"], env=environment)
        try:
            end = time.monotonic() + SECONDS_MAX
            while len(arrived) < EVENTS and time.monotonic() < end:
                time.sleep(0.1)
        finally:
            worker.terminate()
            worker.wait()
    seconds = arrived[-1][0] - arrived[0][0]
    numbers = [number for _, number in arrived]
    row = {"events": len(numbers), "in_order": numbers == sorted(numbers), "a_second": round(len(numbers) / seconds, 1)}
    print(json.dumps(row | {"load": os.getloadavg()[0]}))


def _handler(arrived: list[tuple[float, int]]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            event = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            arrived.append((time.monotonic(), event["data"]["registry_revision"]))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def fill(url: str) -> None:
    """In a process of its own, whose settings name the directory."""
    import fill as capabilities
    from django.core.management import call_command

    from registry.common.actors import SYSTEM
    from registry.notifications import webhooks
    from registry.publishing import publication

    call_command("migrate", verbosity=0)
    webhooks.create_webhook(name="bench", url=url, events=["capability.published"], by=SYSTEM)
    for number in range(EVENTS):
        publication.publish(files=capabilities.bundle(number, 1), by=SYSTEM)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--fill"]:
        fill(sys.argv[2])
    else:
        main()
