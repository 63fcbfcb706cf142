"""What a worker says to a Prometheus: its process, and the jobs that it has run. Queued jobs are in each web process's
`/metrics`, which reads them from the database."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, Final
from wsgiref.simple_server import WSGIRequestHandler, make_server

from django.conf import settings
from prometheus_client import GC_COLLECTOR, PLATFORM_COLLECTOR, PROCESS_COLLECTOR, CollectorRegistry, make_wsgi_app
from prometheus_client.core import CounterMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from registry.core.jobs.run_counts import RUN_COUNTS


class WorkerCollector(Collector):
    """The version, and what `RUN_COUNTS` has."""

    def collect(self) -> Iterator[Metric]:
        yield InfoMetricFamily("studio_build", "What is running.", {"version": settings.STUDIO_VERSION})
        results, seconds = RUN_COUNTS.copy()
        runs = CounterMetricFamily(
            "studio_job_runs", "Jobs that this process ran, by what became of them.", labels=["kind", "result"]
        )
        for (kind, result), count in results.items():
            runs.add_metric([kind, result], count)
        yield runs
        spent = CounterMetricFamily("studio_job_run_seconds", "Time that this process ran them.", labels=["kind"])
        for kind, of_kind in seconds.items():
            spent.add_metric([kind], of_kind)
        yield spent


def _registry() -> CollectorRegistry:
    found = CollectorRegistry()
    for collector in (PROCESS_COLLECTOR, PLATFORM_COLLECTOR, GC_COLLECTOR, WorkerCollector()):
        found.register(collector)
    return found


WORKER_REGISTRY: Final = _registry()


class _Scrape(WSGIRequestHandler):
    # A client that sends nothing keeps the next one waiting for so long.
    timeout = 5

    def log_message(self, *_: Any) -> None:
        """Nothing: a scrape is not worth a line."""


def serve(host: str, port: int) -> int:
    """Answer `/metrics` at this address, one scrape at a time, until the process ends; returns the port, which the
    system chooses for 0. Raises OSError where the port is taken.

    It asks for no key: a network policy says who reaches it.
    """
    server = make_server(host, port, make_wsgi_app(WORKER_REGISTRY), handler_class=_Scrape)
    threading.Thread(target=server.serve_forever, daemon=True, name="metrics").start()
    return server.server_port
