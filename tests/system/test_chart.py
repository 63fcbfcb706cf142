"""The chart for Kubernetes: rendered, linted and validated by other people's libraries, compared with the product, and
its processes started as it names them. No cluster is asked."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
import yaml

from registry.core.jobs.celery_dispatch import list_queues
from studio.config.environment import VARIABLES
from tests.factories import bundle
from tests.servers import ROOT
from tests.system.chart_values import REFUSED, SECRETS, SETS
from tests.system.cluster import CHART, Cluster, containers_of, pods_of
from tests.system.composed import dockerfile, image_environment

pytestmark = [pytest.mark.rare, pytest.mark.system]

LOAD = "/api/v1/capability_skill_load?capability_id="


def _manifests(examined: dict[str, Any], *names: str) -> list[dict[str, Any]]:
    return [one for name in names or SETS for one in examined["sets"][name]["manifests"]]


def test_each_set_of_values_renders_lints_and_is_valid(examined: dict[str, Any]) -> None:
    for name in SETS:
        result = examined["sets"][name]
        assert result["error"] == "", name
        assert result["lint"]["errors"] == [], name
        assert result["invalid"] == [], name
    kinds = {one["kind"] for one in _manifests(examined)}
    assert {"HTTPRoute", "ServiceMonitor", "PrometheusRule", "HorizontalPodAutoscaler", "CronJob"} <= kinds


def test_what_is_missing_or_misspelt_is_refused_by_name(examined: dict[str, Any]) -> None:
    for name, (_, words) in REFUSED.items():
        assert words in examined["sets"][name]["error"], name


def test_a_container_has_no_right_that_it_does_not_need(examined: dict[str, Any]) -> None:
    (user,) = {one.text for one in dockerfile() if one.name == "USER"}
    for name, pod in pods_of(_manifests(examined)):
        context = pod["securityContext"]
        assert f"{context['runAsUser']}:{context['runAsGroup']}" == user, name
        assert context["runAsNonRoot"] is True
        assert context["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["automountServiceAccountToken"] is False
    for name, container in containers_of(_manifests(examined)):
        context = container["securityContext"]
        assert context["readOnlyRootFilesystem"] is True, name
        assert context["allowPrivilegeEscalation"] is False
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert {"requests", "limits"} == set(container["resources"]), name


def test_no_secret_is_in_an_environment(examined: dict[str, Any]) -> None:
    for manifest in _manifests(examined):
        if manifest["kind"] != "Secret":
            assert SECRETS["SECRET_KEY"] not in json.dumps(manifest), manifest["metadata"]["name"]


def test_variables_commands_ports_and_paths_are_the_products(examined: dict[str, Any]) -> None:
    folders = {image_environment()["DATA_DIR"], "/var/lib/checkpoint", "/tmp"}
    queues = {queue.name for queue in list_queues()}
    for name, container in containers_of(_manifests(examined)):
        assert {row["name"] for row in container["env"]} <= set(VARIABLES), name
        assert len(container["env"]) == len({row["name"] for row in container["env"]}), name
        mounted = {row["mountPath"] for row in container["volumeMounts"]}
        assert folders <= mounted, name
        for row in container["env"]:
            if row["name"].endswith("_FILE"):
                assert any(row["value"].startswith(f"{folder}/") for folder in mounted), row
        command = container["command"]
        if command[0] == "python":
            assert (ROOT / command[1]).is_file()
            assert command[2] in {"serve", "worker", "migrate", "backup"}
            if command[2] == "serve":
                assert container["ports"] == [{"name": "http", "containerPort": int(image_environment()["PORT"])}]
        else:
            assert command[:4] == ["celery", "-A", "studio", "worker"]
            assert set(command[command.index("--queues") + 1].split(",")) <= queues
    heard = {
        queue
        for _, container in containers_of(_manifests(examined, "sentinels"))
        if container["command"][0] == "celery"
        for queue in container["command"][5].split(",")
    }
    assert heard == queues


def test_traffic_goes_where_nginx_sends_it(examined: dict[str, Any]) -> None:
    routes = (ROOT / "deploy" / "nginx" / "parts" / "routes.conf").read_text("utf-8")
    (names,) = re.findall(r"location ~ \^/\(\?:(mcp[^)]*)\)", routes)
    agents = {f"/{name}".replace("\\", "") for name in names.split("|")} | {"/api", "/healthz", "/readyz"}
    (ingress,) = [one for one in _manifests(examined, "ingress") if one["kind"] == "Ingress"]
    (route,) = [one for one in _manifests(examined, "gateway") if one["kind"] == "HTTPRoute"]
    by_path = {
        row["path"]: row["backend"]["service"]["name"].rpartition("studio-")[2]
        for row in ingress["spec"]["rules"][0]["http"]["paths"]
    }
    assert {path for path, name in by_path.items() if name == "web-agents"} == agents
    assert by_path["/"] == by_path["/api/v1/operator"] == "web-studio"
    assert {
        rule["matches"][0]["path"]["value"]: rule["backendRefs"][0]["name"].rpartition("studio-")[2]
        for rule in route["spec"]["rules"]
    } == by_path
    services = {one["metadata"]["name"] for one in _manifests(examined, "ingress") if one["kind"] == "Service"}
    assert {row["backend"]["service"]["name"] for row in ingress["spec"]["rules"][0]["http"]["paths"]} <= services


def test_the_alerts_are_those_of_the_page_and_can_be_read(examined: dict[str, Any]) -> None:
    page = (ROOT / "docs" / "operate.md").read_text("utf-8")
    (shown,) = re.findall(r"## Recommended alerts\n\n```yaml\n(.*?)```", page, re.DOTALL)
    assert yaml.safe_load((CHART / "alerts.yaml").read_text("utf-8")) == yaml.safe_load(shown)
    assert all(examined["promql"].values())


def test_the_chart_is_of_this_version() -> None:
    version = re.search(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE)
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text("utf-8"))
    assert version is not None
    assert (chart["version"], chart["appVersion"]) == (version[1], version[1])


def test_the_processes_of_the_manifests_publish_load_and_outlive_each_other(
    database_url: str, redis_url: str, examined: dict[str, Any], tmp_path: Path
) -> None:
    """With one PostgreSQL and one Redis: the migration, two pods for agents, one for the Studio, worker, Celery."""
    secrets = {"SECRET_KEY": SECRETS["SECRET_KEY"], "DATABASE_URL": database_url, "REDIS_URL": redis_url}
    pods = Cluster(_manifests(examined, "a secret of one's own"), tmp_path, secrets)
    webs = {"agents-0": "web-agents", "agents-1": "web-agents", "studio-0": "web-studio"}
    try:
        pods.build()
        assert pods.start("migrate", "migrate").wait(120) == 0
        for name, kind in {**webs, "worker": "worker", "celery": "celery-main"}.items():
            pods.start(name, kind)
        pods.await_ready(*webs)
        key = pods.run(ROOT, "agent_key", "create", "all", "--scopes", "read,publish")
        with contextlib.ExitStack() as stack:
            clients = {name: stack.enter_context(pods.client(name, key)) for name in [*webs, "worker"]}
            _use(pods, clients, examined)
        # Each pod ends by itself when it is asked to, within its grace.
        for name in webs:
            pods.running[name].terminate()
        assert [pods.running[name].wait(45) for name in webs] == [0, 0, 0]
    finally:
        pods.stop()


def _use(pods: Cluster, clients: dict[str, httpx2.Client], examined: dict[str, Any]) -> None:
    body = {"bundles": [{"path": "alpha", "files": bundle("alpha")}]}
    pods.wait(lambda: clients["studio-0"].get("/api/v1/capability_registry_list").status_code == 200)
    published = clients["studio-0"].post("/api/v1/operator/bundle_publish", json=body)
    assert published.json()["results"][0]["status"] == "published", published.text
    load = f"{LOAD}alpha"
    agents = [clients["agents-0"], clients["agents-1"]]
    pods.wait(lambda: all(client.get(load).status_code == 200 for client in agents))

    # As docs/kubernetes.md has it, in a pod of the Studio.
    examples = pods.execute("studio-0", ["python", "manage.py", "bundle", "publish", "examples"])
    assert examples.returncode == 0, examples.stderr
    pods.wait(lambda: all(client.get(LOAD + "weights").status_code == 200 for client in agents))

    # A node is lost: the other pod answers, and the one that comes back reads what is there.
    os.killpg(pods.running["agents-0"].pid, signal.SIGKILL)
    pods.running["agents-0"].wait()
    assert all(clients["agents-1"].get(load).status_code == 200 for _ in range(50))
    pods.start("agents-0", "web-agents")
    pods.await_ready("agents-0")
    assert clients["agents-0"].get(load).status_code == 200

    # The checkpoint of the publish is a job, of the worker or of Celery, and who signed keeps it.
    kept = [pods.folder / name / "last_checkpoint.json" for name in ("worker", "celery")]
    pods.wait(lambda: any(path.is_file() for path in kept), seconds=90)
    pods.wait((pods.folder / "worker" / "alive").is_file)
    assert "studio_build_info" in clients["worker"].get("/metrics").text
    # What the alerts ask for is in a scrape.
    scraped = set(re.findall(r"^(\w+)", clients["agents-0"].get("/metrics").text, re.MULTILINE))
    assert {name for names in examined["promql"].values() for name in names} <= scraped

    # The job of each night, now.
    (pods.folder / "backups").mkdir()
    assert pods.start("backup", "backup").wait(60) == 0, pods.logs()
    (made,) = (pods.folder / "backups").iterdir()

    # Withdrawn: no pod answers it any more. A restore takes that back, as it does all that came after the backup.
    withdrawn = {"capability_id": "alpha", "reason": "a test"}
    done = clients["studio-0"].post("/api/v1/operator/capability_quarantine", json=withdrawn)
    assert done.status_code == 200, done.text
    pods.wait(lambda: all(client.get(load).status_code == 423 for client in agents))
    restore = ["python", "manage.py", "backup", "restore", f"/backups/{made.name}", "--force"]
    assert pods.start("restore", "backup", command=restore).wait(60) == 0, pods.logs()
    pods.wait(lambda: all(client.get(load).status_code == 200 for client in agents))
    _tell_sizes(pods, clients)


def _count_connections(pods: Cluster) -> int:
    """Of all pods to the database."""
    with psycopg.connect(pods.secrets["DATABASE_URL"]) as database:
        counted = database.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
        return int(counted.fetchall()[0][0]) - 1


def _tell_sizes(pods: Cluster, clients: dict[str, httpx2.Client]) -> None:
    """The figures of docs/kubernetes.md, with the packaged model: printed, and held far enough from the limits."""
    names = [f"sized_{number}" for number in range(50)]
    bundles = [{"path": name, "files": bundle(name)} for name in names]
    published = clients["studio-0"].post("/api/v1/operator/bundle_publish", json={"bundles": bundles})
    assert published.status_code == 200, published.text
    for client in (clients["agents-0"], clients["agents-1"]):
        pods.wait(lambda client=client: client.get(LOAD + names[-1]).status_code == 200)  # type: ignore[misc]
        for name in names:
            client.get(LOAD + name)
        client.post("/api/v1/capability_match", json={"message": "the weather of tomorrow"})
    sizes = {name: pods.memory_mb(name) for name in ("agents-0", "agents-1", "studio-0", "worker", "celery")}
    body = {"bundles": bundles[:3]}
    with ThreadPoolExecutor(12) as pool:
        checked = pool.map(lambda _: clients["agents-0"].post("/api/v1/operator/bundle_validate", json=body), range(24))
        assert {answer.status_code for answer in checked} == {200}
    connections = _count_connections(pods)
    print(f"memory of pods (PSS, MB): {sizes}; connections: {connections}")
    # 13 of a web pod, 3 of a worker, one of each process of Celery.
    assert connections <= 3 * 13 + 3 + 2
    for name, size in sizes.items():
        limit = pods.container_of(name)["resources"]["limits"]["memory"]
        assert size < 0.6 * {"1Gi": 1024, "640Mi": 640}[limit], sizes
