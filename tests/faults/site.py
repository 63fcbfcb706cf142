"""A registry with real processes, and what is asked of it after a fault."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx2

from tests.commands import run_script
from tests.faults.check import COMMAND as CHECK
from tests.servers import ROOT, Server, descendants, keep, serve_studio, start_postgresql, studio_environment

SETTINGS: Final = {"EXAMPLES": "off", "EMBEDDER": "none", "RATE_LIMITS": "off", "AGENT_API_PUBLIC_READ": "on"}
# How many capabilities the clients publish and read.
IDS: Final = 12


@dataclass
class Counts:
    """What clients saw."""

    acknowledged: dict[tuple[str, int], str] = field(default_factory=dict)
    feedback: set[str] = field(default_factory=set)
    statuses: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass
class Site:
    """A registry with a web server and a worker, on either database; `key` may do everything."""

    env: dict[str, str]
    folder: Path
    key: str
    counts: Counts = field(default_factory=Counts)
    web: subprocess.Popen[bytes] | None = None
    worker: subprocess.Popen[bytes] | None = None
    postgresql: Server | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.env['PORT']}"

    def start(self) -> float:
        """Start what is not running; the seconds until it was ready."""
        began = time.monotonic()
        if self.web is None or self.web.poll() is not None:
            self.web = serve_studio(self.folder, self.folder / "server.log", env=self.env).server.process
        if self.worker is None or self.worker.poll() is not None:
            command = [sys.executable, str(ROOT / "manage.py"), "worker"]
            self.worker = keep(command, log=self.folder / "worker.log", env=self.env, cwd=ROOT)
        return time.monotonic() - began

    def kill(self, process: subprocess.Popen[bytes] | None) -> None:
        """SIGKILL for a process and all that it has started."""
        if process is None:
            return
        for pid in [*descendants(process.pid), process.pid]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait(30)
        if process.stdin is not None:
            process.stdin.close()

    def stop(self) -> None:
        """End everything and remove the files."""
        for process in (self.web, self.worker):
            self.kill(process)
        if self.postgresql is not None:
            self.postgresql.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> httpx2.Response | None:
        """A response, None where the connection was cut."""
        try:
            return httpx2.request(
                method,
                self.url + path,
                json=body,
                timeout=20,
                headers={"Authorization": f"Bearer {self.key}", **headers},
            )
        except httpx2.HTTPError:
            return None

    def check(self) -> dict[str, Any]:
        """What is stored, read by a process of its own: `{"digests", "feedback", "faults"}`."""
        done = subprocess.run([*CHECK], env=self.env, cwd=ROOT, capture_output=True, text=True, check=True, timeout=300)
        found: dict[str, Any] = json.loads(done.stdout)
        stored = {(name, number): digest for name, number, digest in found["digests"]}
        with self.counts.lock:
            lost = [key for key, digest in self.counts.acknowledged.items() if stored.get(key) != digest]
            unknown = self.counts.feedback - set(found["feedback"])
        found["faults"] += [f"lost or changed: {key}" for key in lost]
        found["faults"] += [f"feedback lost: {key}" for key in unknown]
        return found


def new_site(database: str, *, folder: Path | None = None, root: Path = ROOT) -> Site:
    """A migrated, empty registry with one key."""
    folder = folder or Path(tempfile.mkdtemp(prefix="faults-"))
    server, settings = None, dict(SETTINGS)
    if database == "postgresql":
        server = start_postgresql()
        settings |= {
            "DATABASE_URL": server.url,
            "SECRET_KEY": "for-faults-alone-" + "x" * 40,
            "ALLOWED_HOSTS": "127.0.0.1",
        }
    env = studio_environment(folder, **settings)
    env["PYTHONPATH"] = str(root)
    for arguments in (["migrate", "--verbosity", "0"], ["prepare_site"]):
        run_script(root / "manage.py", *arguments, env=env, cwd=root).check_returncode()
    scopes = "read,feedback,propose,publish"
    made = run_script(root / "manage.py", "agent_key", "create", "faults", "--scopes", scopes, env=env, cwd=root)
    made.check_returncode()
    return Site(env, folder, made.stdout.strip(), postgresql=server)
