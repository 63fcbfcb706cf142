"""The chart's manifests, and a stand-in for the node that starts what they name. No cluster is asked."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2

from tests.pypi import install
from tests.servers import ROOT, descendants, free_port

CHART = ROOT / "deploy" / "chart"
LIBRARIES = ("helm-python-sdk==0.2.2", "kubernetes-validate==1.37.0", "promql-parser==0.12.0")
# Of the release that the chart is rendered for, and the host of its address.
PREFIX = "studio-capability-studio"
HOST = "studio.example.com"
PROGRAMS = ROOT / ".venv" / "bin"


def examine(sets: dict[str, dict[str, Any]], folder: Path) -> dict[str, Any]:
    """What `chart_program.py` says of these values, in an environment that is made below `folder`."""
    python = install(folder / "environment", *LIBRARIES)
    command = [str(python), str(ROOT / "tests" / "system" / "chart_program.py"), str(CHART)]
    done = subprocess.run(command, input=json.dumps(sets), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def pods_of(manifests: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The name of what makes pods, and their spec."""
    for one in manifests:
        spec = one["spec"]["jobTemplate"]["spec"] if one["kind"] == "CronJob" else one.get("spec", {})
        if "template" in spec:
            yield one["metadata"]["name"], spec["template"]["spec"]


def containers_of(manifests: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, pod in pods_of(manifests):
        for container in pod["containers"]:
            yield name, container


class Cluster:
    """Starts what the manifests name, as a node would: their commands and variables, with folders of its own.

    `more` is what all of its pods have beside the manifests.
    """

    def __init__(self, manifests: list[dict[str, Any]], folder: Path, secrets: dict[str, str], **more: str) -> None:
        self.containers = {name.removeprefix(f"{PREFIX}-"): one for name, one in containers_of(manifests)}
        self.folder = folder
        self.more = {"HOST": "127.0.0.1", **more}
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.ports: dict[str, int] = {}
        self._kinds: dict[str, str] = {}
        self._environments: dict[str, dict[str, str]] = {}
        self.secrets = secrets
        mounted = folder / "secrets"
        mounted.mkdir(parents=True)
        for name, secret in secrets.items():
            (mounted / name).write_text(secret)

    def build(self, root: Path = ROOT) -> None:
        """What the image's build has done."""
        self.run(root, "prepare_site", "--static", DATA_DIR=str(self.folder / "build"))

    def run(self, root: Path, *arguments: str, **more: str) -> str:
        """A command of `manage.py` in the code of `root`, as in any pod; its output."""
        env = {**self._environment(root, "command"), "ALLOWED_HOSTS": HOST, **self.secrets, **more}
        command = ["python", "manage.py", *arguments]
        done = subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()

    def start(
        self, name: str, kind: str, root: Path = ROOT, *, without: str = "", command: list[str] | None = None
    ) -> subprocess.Popen[bytes]:
        """A pod of this name and kind, such as `web-agents`, of the code in `root`; `command` replaces the kind's.

        `without` is an option of its command that this code does not know, and that is left out with its value.
        """
        rendered = self.containers[kind]
        here = self.folder / name
        here.mkdir(exist_ok=True)
        self._kinds[name] = kind
        env = self._environment(root, name) | {row["name"]: self.move(name, row["value"]) for row in rendered["env"]}
        env |= self.more
        command = [self.move(name, word) for word in command or rendered["command"]]
        if without:
            at = command.index(without)
            del command[at : at + 2]
        for port in rendered.get("ports", []):
            own = self.ports.setdefault(name, free_port())
            env |= {"PORT": str(own)}
            command = [str(own) if part == str(port["containerPort"]) else part for part in command]
        self._environments[name] = env
        with (here / "log").open("ab") as log:
            self.running[name] = subprocess.Popen(
                command, cwd=root, env=env, stdout=log, stderr=log, start_new_session=True
            )
        return self.running[name]

    def _environment(self, root: Path, name: str) -> dict[str, str]:
        """Nothing of the shell's but where programs are."""
        env = {key: os.environ[key] for key in ("HOME", "LANG") if key in os.environ}
        env["PATH"] = f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"
        static = self.folder / ("static" if root == ROOT else f"static-{root.name}")
        own = {"DATA_DIR": str(self.folder / name / "data"), "STATIC_DIR": str(static)}
        return {**env, "DJANGO_SETTINGS_MODULE": "studio.settings", **self.more, **own}

    def move(self, name: str, text: str) -> str:
        """A text of the manifests, with the places of a container as this pod has them."""
        places = {
            "/run/secrets/studio": str(self.folder / "secrets"),
            "/var/lib/checkpoint": str(self.folder / name),
            "/tmp/alive": str(self.folder / name / "alive"),
            "/backups": str(self.folder / "backups"),
        }
        for place, own in places.items():
            text = text.replace(place, own)
        return text

    def execute(self, name: str, words: list[str]) -> subprocess.CompletedProcess[bytes]:
        """A command in a pod that runs, such as a probe's."""
        command = [self.move(name, word) for word in words]
        return subprocess.run(command, cwd=ROOT, env=self._environments[name], capture_output=True, check=False)

    def client(self, name: str, key: str) -> httpx2.Client:
        """Of its port, past every Service."""
        headers = {"Authorization": f"Bearer {key}", "Host": HOST}
        return httpx2.Client(base_url=f"http://127.0.0.1:{self.ports[name]}", headers=headers, timeout=20)

    def container_of(self, name: str) -> dict[str, Any]:
        """As the manifests have it."""
        found: dict[str, Any] = self.containers[self._kinds[name]]
        return found

    def is_well(self, name: str, probe: str) -> bool:
        """What a probe of the manifests says of a pod at this moment: `startup`, `liveness` or `readiness`."""
        asked = self.container_of(name)[f"{probe}Probe"]
        if "exec" in asked:
            return self.execute(name, asked["exec"]["command"]).returncode == 0
        try:
            url = f"http://127.0.0.1:{self.ports[name]}{asked['httpGet']['path']}"
            status: int = httpx2.get(url, timeout=asked["timeoutSeconds"]).status_code
        except httpx2.HTTPError:
            return False
        return 200 <= status < 400

    def await_ready(self, *names: str) -> None:
        """As a node: first it has started, then it is ready."""
        for name in names:
            for probe in ("startup", "readiness"):
                self.wait(lambda name=name, probe=probe: self.is_well(name, probe))  # type: ignore[misc]

    def wait(self, condition: Callable[[], Any], *, seconds: float = 60) -> None:
        """Until it holds. A connection that fails is one that does not hold yet."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                if condition():
                    return
            except httpx2.HTTPError:
                pass
            time.sleep(0.2)
        raise AssertionError(self.logs())

    def memory_mb(self, name: str) -> int:
        """Of a pod, with what it shares divided by who shares it (PSS)."""
        kilobytes = 0
        for pid in (self.running[name].pid, *descendants(self.running[name].pid)):
            with contextlib.suppress(OSError):
                rows = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii").splitlines()
                kilobytes += sum(int(row.split()[1]) for row in rows if row.startswith("Pss:"))
        return kilobytes // 1024

    def logs(self) -> str:
        """The end of each pod's log."""
        read = {name: (self.folder / name / "log").read_text("utf-8", errors="replace") for name in self.running}
        return json.dumps({name: text[-1500:] for name, text in read.items()}, indent=1)

    def stop(self) -> None:
        for process in self.running.values():
            process.terminate()
        for process in self.running.values():
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
