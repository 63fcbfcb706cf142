"""The Grafana dashboard asks for metrics that there are, and what provisions it leads to it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from django.test import Client

from tests.servers import ROOT

FOLDER = ROOT / "deploy" / "grafana"
DASHBOARD: dict[str, Any] = json.loads((FOLDER / "capability-studio.json").read_text("utf-8"))
PANELS: list[dict[str, Any]] = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
_METRIC = re.compile(r"\b(?:studio|process|python)_[a-z_]+")
_LABELS = re.compile(r"(\w+)(?:\{([^}]*)\})")


def queries() -> Iterator[tuple[str, str]]:
    for panel in PANELS:
        for target in panel["targets"]:
            yield panel["title"], target["expr"]


def scrape(client: Client) -> dict[str, set[str]]:
    """The labels of each sample, by its name, of a process that has answered something."""
    client.get("/api/v1/capability_registry_list")
    text = client.get("/metrics").content.decode()
    found: dict[str, set[str]] = {}
    for name, labels in re.findall(r"^(\w+)(?:\{(.*)\})? \S+$", text, re.MULTILINE):
        found.setdefault(name, set()).update(re.findall(r'(\w+)="', labels))
    return found


@pytest.mark.django_db
def test_each_query_names_metrics_and_labels_that_there_are(client: Client) -> None:
    samples = scrape(client)
    assert len(samples) > 30
    for title, query in queries():
        named = set(_METRIC.findall(query))
        assert named, title
        assert named <= samples.keys(), (title, named - samples.keys())
        for name, matchers in _LABELS.findall(query):
            # Prometheus itself adds these.
            labels = set(re.findall(r"(\w+)\s*(?:=~|!=|!~|=)", matchers)) - {"job", "instance"}
            assert labels <= samples[name], (title, name, labels)
        for group in re.findall(r"by \(([^)]*)\)", query):
            of_all = {"le"}.union(*(samples[name] for name in named))
            assert {label.strip() for label in group.split(",")} <= of_all, title


@pytest.mark.django_db
def test_each_metric_of_ours_is_documented_and_shown_or_in_an_alert(client: Client) -> None:
    page = (ROOT / "docs" / "operate.md").read_text("utf-8")
    shown = {name for _, query in queries() for name in _METRIC.findall(query)}
    ours = {re.sub(r"_(?:bucket|count|sum)$", "", name) for name in scrape(client) if name.startswith("studio_")}
    assert not [name for name in ours if f"`{name}`" not in page]
    shown = {re.sub(r"_bucket$", "", name) for name in shown}
    # A count of the cache that its size in bytes says as well.
    assert ours - shown == {"studio_bodies_entries"}


def test_each_panel_has_a_unit_and_a_place_of_its_own() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in PANELS:
        assert panel["fieldConfig"]["defaults"]["unit"], panel["title"]
        place = panel["gridPos"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert not cells & taken, panel["title"]
        assert max(x for x, _ in cells) < 24, panel["title"]
        taken |= cells
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


def test_the_files_that_provision_it_lead_to_it() -> None:
    compose = yaml.safe_load((FOLDER / "compose.yml").read_text("utf-8"))
    base = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))
    mounted = [volume.split(":") for one in compose["services"].values() for volume in one["volumes"]]
    for parts in mounted:
        if parts[0].startswith("./"):
            assert (ROOT / parts[0]).exists(), parts
    (provider,) = yaml.safe_load((FOLDER / "provisioning/dashboards/capability-studio.yml").read_text())["providers"]
    assert any(parts[1].startswith(provider["options"]["path"]) for parts in mounted)
    (source,) = yaml.safe_load((FOLDER / "provisioning/datasources/prometheus.yml").read_text())["datasources"]
    assert source["type"] == DASHBOARD["templating"]["list"][0]["query"] == "prometheus"
    assert source["url"] == "http://prometheus:9090"
    scraped = yaml.safe_load((FOLDER / "prometheus.yml").read_text())["scrape_configs"][0]
    assert set(scraped["dns_sd_configs"][0]["names"]) <= set(base["services"])
    for service in compose["services"].values():
        assert set(service["networks"]) <= set(base["networks"])
        assert service["read_only"]
        assert service["cap_drop"] == ["ALL"]
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))
        assert re.fullmatch(r"[\w./-]+:v?[\d.]+", service["image"])
