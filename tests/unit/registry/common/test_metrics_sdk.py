"""Prometheus' families as OTLP has them."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from opentelemetry.sdk.metrics.export import Gauge, Histogram, HistogramDataPoint, Metric, NumberDataPoint, Sum
from prometheus_client import CollectorRegistry, Counter
from prometheus_client import Gauge as PrometheusGauge
from prometheus_client import Histogram as PrometheusHistogram

from registry.common.metrics_sdk import INTERVAL_MILLISECONDS, Sender, convert, read_interval


def _convert(registry: CollectorRegistry) -> dict[str, Metric]:
    return {metric.name: metric for metric in convert(registry.collect(), 1, 2)}


def _points(data: Any) -> list[tuple[dict[str, Any], Any]]:
    numbers = [point for point in data.data_points if isinstance(point, NumberDataPoint)]
    return [(dict(point.attributes or {}), point.value) for point in numbers]


def test_each_type_has_its_own() -> None:
    registry = CollectorRegistry()
    counter = Counter("reads", "Reads.", ["route"], registry=registry)
    counter.labels("list").inc(3)
    PrometheusGauge("open", "Open ones.", registry=registry).set(2)
    Counter("never", "No sample.", ["route"], registry=registry)
    found = _convert(registry)
    assert set(found) == {"reads", "open"}
    assert isinstance(found["reads"].data, Sum)
    assert found["reads"].data.is_monotonic
    assert ({"route": "list"}, 3.0) in _points(found["reads"].data)
    assert isinstance(found["open"].data, Gauge)
    assert _points(found["open"].data) == [({}, 2.0)]


def test_the_buckets_of_a_histogram_count_what_is_within_them_alone() -> None:
    registry = CollectorRegistry()
    seconds = PrometheusHistogram("seconds", "By route.", ["route"], buckets=(0.1, 1.0), registry=registry)
    for value in (0.05, 0.06, 0.5, 7.0):
        seconds.labels("list").observe(value)
    seconds.labels("load").observe(0.5)
    data = _convert(registry)["seconds"].data
    assert isinstance(data, Histogram)
    by_route = {point.attributes["route"]: point for point in data.data_points if point.attributes}
    found = by_route["list"]
    assert isinstance(found, HistogramDataPoint)
    assert (found.explicit_bounds, found.bucket_counts, found.count) == ([0.1, 1.0], [2, 1, 1], 4)
    assert found.sum == pytest.approx(7.61)
    assert by_route["load"].bucket_counts == [0, 1, 0]


@pytest.mark.parametrize(
    ("text", "milliseconds"), [("300", 300), ("", INTERVAL_MILLISECONDS), ("0", INTERVAL_MILLISECONDS), ("x", 60_000)]
)
def test_the_interval_is_the_standards(monkeypatch: pytest.MonkeyPatch, text: str, milliseconds: int) -> None:
    monkeypatch.setenv("OTEL_METRIC_EXPORT_INTERVAL", text)
    assert read_interval() == milliseconds


def test_a_collector_that_does_not_answer_holds_up_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    sender, answered, has_ended = Sender("worker", CollectorRegistry()), threading.Event(), threading.Event()

    def send() -> None:
        answered.wait(60)
        has_ended.set()

    monkeypatch.setattr(sender, "send", send)
    sender.send_within(0.01)
    assert not has_ended.is_set()
    answered.set()
    assert has_ended.wait(60)
