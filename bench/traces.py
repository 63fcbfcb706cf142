"""What traces cost a warm load: CPU a request without them, with a sample of them, and with all of them.

    python bench/traces.py [--seconds 2] [--rounds 7] [--base FOLDER]

As bench/hot_path.py: CPU of the server's whole process tree, in interleaved rounds in random order, compared in pairs.
The collector is a program of its own that reads what it gets and keeps nothing. `--base` is a checkout of another
version, whose server runs in the same rounds. Needs wrk.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from hot_path import LOAD, _fill
from measuring import PRODUCT, ROOT, Sample, Server, free_port, measure, run, serve

_COLLECTOR = """
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200); self.send_header("Content-Length", "0"); self.end_headers()
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--base", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        _fill(folder, 150)
        servers = [
            stack.enter_context(one) for one in _servers(folder, stack.enter_context(_collector()), options.base)
        ]
        for server in servers:
            for _ in range(4):
                server.fetch(LOAD)
                time.sleep(0.3)
        samples: dict[str, list[Sample]] = {server.name: [] for server in servers}
        for _ in range(options.rounds):
            for server in random.sample(servers, len(servers)):
                samples[server.name].append(measure(server, LOAD, {}, options.seconds))
    _report(samples)


def _servers(folder: Path, endpoint: str, base: Path | None) -> Iterator[AbstractContextManager[Server]]:
    headers = {"Authorization": f"Bearer {(folder / 'key').read_text()}"}
    env = {"DATA_DIR": str(folder), "EXAMPLES": "off", "RATE_LIMITS": "off"}
    yield serve("off", PRODUCT, env, headers)
    if base is not None:
        port = free_port()
        command = ["env", "-C", str(base), sys.executable, "-m", "studio.gateway", "--host", "127.0.0.1"]
        own = {
            **os.environ,
            **env,
            "PORT": str(port),
            "PYTHONPATH": str(base),
            "DJANGO_SETTINGS_MODULE": "studio.settings",
        }
        yield run("base", [*command, "--port", str(port)], port, own, headers)
    traced = {**env, "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint}
    sampled = {"OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.01"}
    yield serve("1 % of the traces", PRODUCT, {**traced, **sampled}, headers)
    yield serve("all traces", PRODUCT, traced, headers)


@contextmanager
def _collector() -> Iterator[str]:
    port = free_port()
    process = subprocess.Popen([sys.executable, "-c", _COLLECTOR, str(port)], cwd=ROOT)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def _report(samples: dict[str, list[Sample]]) -> None:
    print("| server | CPU, µs a load | times `off`, in pairs | loads a second | p99, ms |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, found in samples.items():
        ratios = [one.cpu_us / off.cpu_us for one, off in zip(found, samples["off"], strict=True)]
        low, middle, high = statistics.quantiles(ratios, n=4)
        cpu = statistics.median(one.cpu_us for one in found)
        pace = statistics.median(one.requests_per_second for one in found)
        slow = statistics.median(one.p99_ms for one in found)
        print(f"| {name} | {cpu:.1f} | {middle:.3f} ({low:.3f} to {high:.3f}) | {pace:,.0f} | {slow:.2f} |")


if __name__ == "__main__":
    main()
