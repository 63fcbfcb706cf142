"""The chart for Kubernetes: rendered, linted and validated by other people's libraries, compared with the product, and
its processes started as it names them. No cluster is asked."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
import yaml

from registry.core.jobs.celery_dispatch import list_queues
from studio.config.environment import VARIABLES
from tests.factories import bundle
from tests.pypi import install
from tests.servers import ROOT, free_port
from tests.system.composed import dockerfile, image_environment

pytestmark = [pytest.mark.rare, pytest.mark.system]

CHART = ROOT / "deploy" / "chart"
LIBRARIES = ("helm-python-sdk==0.2.2", "kubernetes-validate==1.37.0", "promql-parser==0.12.0")
SECRETS = {"SECRET_KEY": "of-the-test-alone-" * 3, "DATABASE_URL": "postgresql://studio@db/studio"}
LEAST = {"publicUrl": "https://studio.example.com", "secrets": {"values": SECRETS}}
OWN_SECRET = {"existingSecret": "own", "keys": ["SECRET_KEY", "DATABASE_URL", "REDIS_URL"]}
SETS: dict[str, dict[str, Any]] = {
    "three values": LEAST,
    "a secret of one's own": {**LEAST, "secrets": OWN_SECRET},
    "signing key and settings": {
        **LEAST,
        "secrets": {**OWN_SECRET, "signingKeySecret": "signing"},
        "settings": {"TRUSTED_PROXIES": "10.0.0.0/8", "WEB_THREADS": 6, "KEEP_CONVERSATIONS": True},
    },
    "sentinels": {
        **LEAST,
        "secrets": {"values": {**SECRETS, "REDIS_URL": "sentinel://a:26379,b:26379/main"}},
    },
    "ingress": {
        **LEAST,
        "ingress": {"enabled": True, "className": "nginx", "tlsSecret": "tls", "annotations": {"a.example/b": "c"}},
    },
    "gateway": {**LEAST, "httpRoute": {"enabled": True, "parentRefs": [{"name": "public", "namespace": "gateways"}]}},
    "watched": {
        **LEAST,
        "metrics": {
            "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
            "prometheusRule": {"enabled": True},
            "keySecret": {"name": "key"},
        },
    },
    "scaled and closed": {
        **LEAST,
        "webAgents": {"autoscaling": {"enabled": True}, "tolerations": [{"key": "a", "operator": "Exists"}]},
        "networkPolicy": {
            "enabled": True,
            "from": [{"namespaceSelector": {}}],
            "metricsFrom": [{"podSelector": {}}],
            "egress": [{}],
        },
        "podLabels": {"team": "platform"},
    },
    "backed up": {
        **LEAST,
        "backup": {"enabled": True, "claim": "backups"},
        "checkpoint": {"storageClass": "fast"},
        "image": {"digest": f"sha256:{'a' * 64}", "pullSecrets": [{"name": "pull"}]},
        "serviceAccount": {"name": "own"},
    },
}
REFUSED = {
    "nothing": ({}, "publicUrl is missing"),
    "no database": ({**LEAST, "secrets": {"values": {"SECRET_KEY": "a"}}}, "DATABASE_URL is missing"),
    "a misspelt value": ({**LEAST, "webAgent": {}}, "webAgent"),
    "an address with a path": ({**LEAST, "publicUrl": "https://studio.example.com/x"}, "publicUrl"),
    "no gateway": ({**LEAST, "httpRoute": {"enabled": True}}, "parentRefs is missing"),
    "no claim": ({**LEAST, "backup": {"enabled": True}}, "backup.claim is missing"),
}


@pytest.fixture(scope="module")
def examined(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    python = install(tmp_path_factory.mktemp("helm") / "environment", *LIBRARIES)
    sets = {**SETS, **{name: values for name, (values, _) in REFUSED.items()}}
    program = ROOT / "tests" / "system" / "chart_program.py"
    done = subprocess.run(
        [str(python), str(program), str(CHART)], input=json.dumps(sets), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _manifests(examined: dict[str, Any], *names: str) -> list[dict[str, Any]]:
    return [one for name in names or SETS for one in examined["sets"][name]["manifests"]]


def _pods(manifests: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    for one in manifests:
        spec = one["spec"]["jobTemplate"]["spec"] if one["kind"] == "CronJob" else one.get("spec", {})
        if "template" in spec:
            yield one["metadata"]["name"], spec["template"]["spec"]


def _containers(manifests: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, pod in _pods(manifests):
        for container in pod["containers"]:
            yield name, container


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
    for name, pod in _pods(_manifests(examined)):
        context = pod["securityContext"]
        assert f"{context['runAsUser']}:{context['runAsGroup']}" == user, name
        assert context["runAsNonRoot"] is True
        assert context["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["automountServiceAccountToken"] is False
    for name, container in _containers(_manifests(examined)):
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
    for name, container in _containers(_manifests(examined)):
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
        for _, container in _containers(_manifests(examined, "sentinels"))
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


class Cluster:
    """Starts what the manifests name, as a node would: their commands and variables, with folders of its own."""

    def __init__(self, manifests: list[dict[str, Any]], folder: Path, secrets: dict[str, str]) -> None:
        self.containers = dict(_containers(manifests))
        self.folder = folder
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        mounted = folder / "secrets"
        mounted.mkdir()
        for name, secret in secrets.items():
            (mounted / name).write_text(secret)

    def start(self, name: str, container: str, **more: str) -> subprocess.Popen[bytes]:
        """A pod of this name; `more` stands for what a network of its own would give it."""
        rendered = self.containers[container]
        here = self.folder / name
        here.mkdir(exist_ok=True)
        places = {
            "/run/secrets/studio": str(self.folder / "secrets"),
            "/var/lib/checkpoint": str(here),
            "/tmp/alive": str(here / "alive"),
        }

        def move(text: str) -> str:
            for place, own in places.items():
                text = text.replace(place, own)
            return text

        env = {key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ}
        env |= {row["name"]: move(row["value"]) for row in rendered["env"]}
        env |= {"DJANGO_SETTINGS_MODULE": "studio.settings", "HOST": "127.0.0.1", "EMBEDDER": "none", **more}
        env |= {"DATA_DIR": str(here / "data"), "STATIC_DIR": str(self.folder / "static")}
        program = ROOT / ".venv" / "bin" / rendered["command"][0]
        command = [str(program), *(move(part) for part in rendered["command"][1:])]
        if "--metrics-port" in command:
            command[command.index("--metrics-port") + 1] = more["METRICS_PORT"]
        with (here / "log").open("wb") as log:
            self.running[name] = subprocess.Popen(
                command, cwd=ROOT, env=env, stdout=log, stderr=log, start_new_session=True
            )
        return self.running[name]

    def stop(self) -> None:
        for process in self.running.values():
            process.terminate()
        for process in self.running.values():
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()


@pytest.fixture
def cluster(
    examined: dict[str, Any], tmp_path: Path, postgresql_url: str, redis_url: str
) -> Iterator[tuple[Cluster, dict[str, str]]]:
    name = f"chart_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(postgresql_url, autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}"')
    database = postgresql_url.replace("/postgres?", f"/{name}?")
    secrets = {"SECRET_KEY": SECRETS["SECRET_KEY"], "DATABASE_URL": database, "REDIS_URL": redis_url}
    found = Cluster(_manifests(examined, "a secret of one's own"), tmp_path, secrets)
    # As the image's build has done.
    env = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "studio.settings",
        "DATA_DIR": str(tmp_path / "build"),
        "STATIC_DIR": str(tmp_path / "static"),
    }
    command = [str(ROOT / ".venv" / "bin" / "python"), "manage.py", "prepare_site", "--static"]
    subprocess.run(command, cwd=ROOT, env=env, check=True, capture_output=True)
    yield found, {"DATABASE_URL": database, "SECRET_KEY": secrets["SECRET_KEY"]}
    found.stop()


def test_the_processes_of_the_manifests_publish_load_and_outlive_each_other(
    cluster: tuple[Cluster, dict[str, str]], examined: dict[str, Any]
) -> None:
    """With one PostgreSQL and one Redis: the migration, two pods for agents, one for the Studio, worker, Celery."""
    pods, settings = cluster
    prefix = "studio-capability-studio"
    assert pods.start("migrate", f"{prefix}-migrate").wait(120) == 0
    ports = {name: free_port() for name in ("agents-0", "agents-1", "studio-0", "metrics")}
    for name in ("agents-0", "agents-1"):
        pods.start(name, f"{prefix}-web-agents", PORT=str(ports[name]), ALLOWED_HOSTS="127.0.0.1")
    pods.start("studio-0", f"{prefix}-web-studio", PORT=str(ports["studio-0"]), ALLOWED_HOSTS="127.0.0.1")
    pods.start("worker", f"{prefix}-worker", METRICS_PORT=str(ports["metrics"]))
    pods.start("celery", f"{prefix}-celery-main")
    with contextlib.ExitStack() as stack:
        clients = {
            name: stack.enter_context(httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=20))
            for name, port in ports.items()
        }
        _use(pods, ports, clients, settings, examined)


def _use(
    pods: Cluster,
    ports: dict[str, int],
    clients: dict[str, httpx2.Client],
    settings: dict[str, str],
    examined: dict[str, Any],
) -> None:
    for name in ("agents-0", "agents-1", "studio-0"):
        _await(lambda name=name: clients[name].get("/readyz").status_code == 200, pods)
    env = {
        **os.environ,
        **settings,
        "DJANGO_SETTINGS_MODULE": "studio.settings",
        "ALLOWED_HOSTS": "127.0.0.1",
        "EMBEDDER": "none",
    }
    manage = [str(ROOT / ".venv" / "bin" / "python"), "manage.py", "agent_key", "create", "all"]
    made = subprocess.run(
        [*manage, "--scopes", "read,publish"], cwd=ROOT, env=env, check=True, capture_output=True, text=True
    )
    for client in clients.values():
        client.headers["Authorization"] = f"Bearer {made.stdout.strip()}"

    body = {"bundles": [{"path": "alpha", "files": bundle("alpha")}]}
    _await(lambda: clients["studio-0"].get("/api/v1/capability_registry_list").status_code == 200, pods)
    published = clients["studio-0"].post("/api/v1/operator/bundle_publish", json=body)
    assert published.json()["results"][0]["status"] == "published", published.text
    load = "/api/v1/capability_skill_load?capability_id=alpha"
    for name in ("agents-0", "agents-1"):
        _await(lambda name=name: clients[name].get(load).status_code == 200, pods)

    # A node is lost: the other pod answers, and the one that comes back reads what is there.
    os.killpg(pods.running["agents-0"].pid, signal.SIGKILL)
    pods.running["agents-0"].wait()
    assert all(clients["agents-1"].get(load).status_code == 200 for _ in range(50))
    pods.start(
        "agents-0", "studio-capability-studio-web-agents", PORT=str(ports["agents-0"]), ALLOWED_HOSTS="127.0.0.1"
    )
    _await(lambda: clients["agents-0"].get("/readyz").status_code == 200, pods)
    assert clients["agents-0"].get(load).status_code == 200

    # The checkpoint of the publish is a job, of the worker or of Celery, and who signed keeps it.
    kept = [pods.folder / name / "last_checkpoint.json" for name in ("worker", "celery")]
    _await(lambda: any(path.is_file() for path in kept), pods, seconds=90)
    _await((pods.folder / "worker" / "alive").is_file, pods)
    assert "studio_build_info" in clients["metrics"].get("/metrics").text
    # What the alerts ask for is in a scrape.
    scraped = set(re.findall(r"^(\w+)", clients["agents-0"].get("/metrics").text, re.MULTILINE))
    assert {name for names in examined["promql"].values() for name in names} <= scraped

    # Withdrawn: no pod answers it any more.
    done = clients["studio-0"].post(
        "/api/v1/operator/capability_quarantine", json={"capability_id": "alpha", "reason": "a test"}
    )
    assert done.status_code == 200, done.text
    for name in ("agents-0", "agents-1"):
        _await(lambda name=name: clients[name].get(load).status_code != 200, pods)
    # Each pod ends by itself when it is asked to, within its grace.
    for name, process in pods.running.items():
        if name != "migrate":
            process.terminate()
    webs = ("agents-0", "agents-1", "studio-0")
    assert [pods.running[name].wait(45) for name in webs] == [0, 0, 0]


def _await(condition: Any, pods: Cluster, *, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if condition():
                return
        except httpx2.HTTPError:
            pass
        time.sleep(0.2)
    logs = {name: (pods.folder / name / "log").read_text("utf-8", errors="replace")[-1500:] for name in pods.running}
    raise AssertionError(json.dumps(logs, indent=1))
