"""Sends this process's metrics to an OpenTelemetry collector over OTLP/HTTP: the families that `/metrics` shows.

One table of metrics for both ways: what a Prometheus reads is sent as it is, under the same names. The SDK's own
instruments would be a second table beside it.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

from django.conf import settings
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Gauge,
    Histogram,
    HistogramDataPoint,
    Metric,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric as Family
from prometheus_client.samples import Sample

from registry.common import tracing_sdk

# The standard's own default, in milliseconds.
INTERVAL_MILLISECONDS: Final = 60_000
_INTERVAL_VARIABLE: Final = "OTEL_METRIC_EXPORT_INTERVAL"
_CUMULATIVE: Final = AggregationTemporality.CUMULATIVE
_LOGGER: Final = "opentelemetry.exporter.otlp.proto.http.metric_exporter"


def start(role: str, source: CollectorRegistry) -> None:
    """Send `source` from now on and once more at the end, where the settings ask for it. Never raises for the
    collector: what it does not take is counted on, and sent with the next."""
    if not settings.IS_METERED:
        return
    logging.getLogger(_LOGGER).addFilter(tracing_sdk.ONCE_PER_PERIOD)
    sender = Sender(role, source)
    threading.Thread(target=sender.run, daemon=True, name="metrics").start()
    atexit.register(sender.send_within, tracing_sdk.FLUSH_SECONDS)


class Sender:
    """Of one process; `role` says which of the product's."""

    def __init__(self, role: str, source: CollectorRegistry) -> None:
        self._source = source
        self._resource = tracing_sdk.build_resource(role)
        self._exporter = OTLPMetricExporter(timeout=5)
        self._began_ns = time.time_ns()

    def run(self) -> None:
        """At each interval, for as long as the process lives."""
        seconds = read_interval() / 1000
        while True:
            time.sleep(seconds)
            self.send()

    def send(self) -> None:
        """What is there now. Never raises."""
        try:
            metrics = list(convert(self._source.collect(), self._began_ns, time.time_ns()))
            scope = ScopeMetrics(InstrumentationScope("capability-studio", settings.STUDIO_VERSION), metrics, "")
            self._exporter.export(MetricsData([ResourceMetrics(self._resource, [scope], "")]))
        except Exception:  # the next interval tries again, whatever this one met
            logging.getLogger(_LOGGER).exception("the metrics could not be sent")

    def send_within(self, seconds: float) -> None:
        """Send, and go on after so long: a collector that does not answer holds up no end of a process."""
        thread = threading.Thread(target=self.send, daemon=True)
        thread.start()
        thread.join(seconds)


def read_interval() -> int:
    """As the standard has it: a text that is not a number above 0 counts as not set."""
    text = os.environ.get(_INTERVAL_VARIABLE, "").strip()
    return int(text) if text.isdecimal() and int(text) > 0 else INTERVAL_MILLISECONDS


def convert(families: Iterable[Family], began_ns: int, now_ns: int) -> Iterator[Metric]:
    """Prometheus' families as OTLP has them: counters as cumulative sums, histograms with their buckets, all else as
    gauges. A family without a sample is left out."""
    for family in families:
        if not family.samples:
            continue
        if family.type == "histogram":
            points = list(_histogram_points(family.samples, began_ns, now_ns))
            data: Histogram | Sum | Gauge = Histogram(points, _CUMULATIVE)
        else:
            numbers = [
                NumberDataPoint(dict(sample.labels), began_ns, now_ns, sample.value) for sample in family.samples
            ]
            data = Sum(numbers, _CUMULATIVE, is_monotonic=True) if family.type == "counter" else Gauge(numbers)
        yield Metric(family.name, family.documentation, family.unit or None, data)


def _histogram_points(samples: list[Sample], began_ns: int, now_ns: int) -> Iterator[HistogramDataPoint]:
    """One for each set of labels but `le`. Prometheus' buckets count what is below too, those of OTLP do not."""
    by_labels: dict[tuple[tuple[str, str], ...], list[Sample]] = defaultdict(list)
    for sample in samples:
        by_labels[tuple(sorted((name, value) for name, value in sample.labels.items() if name != "le"))].append(sample)
    for labels, found in by_labels.items():
        buckets = sorted((float(one.labels["le"]), int(one.value)) for one in found if one.name.endswith("_bucket"))
        upper = [count for _, count in buckets]
        counts = [count - below for count, below in zip(upper, [0, *upper], strict=False)]
        total = next(one.value for one in found if one.name.endswith("_sum"))
        yield HistogramDataPoint(
            dict(labels),
            began_ns,
            now_ns,
            count=upper[-1],
            sum=total,
            bucket_counts=counts,
            explicit_bounds=[bound for bound, _ in buckets[:-1]],
            min=float("nan"),
            max=float("nan"),
        )
