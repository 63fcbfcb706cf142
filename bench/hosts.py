"""Hosts that are network namespaces of this machine: PostgreSQL with a replica, Redis, nginx, web hosts, a worker.

Needs root, iproute2, PostgreSQL's server programs, redis-server, nginx and setpriv. Nothing here is reachable from
outside of the machine; `Network.remove` takes everything away again.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
BRIDGE: Final = "studio-bench"
ADDRESSES: Final = {
    "primary": "10.89.77.11", "replica": "10.89.77.12", "redis": "10.89.77.13", "web1": "10.89.77.21",
    "web2": "10.89.77.22", "worker": "10.89.77.31", "nginx": "10.89.77.41",
}  # fmt: skip
PASSWORD: Final = "of-the-bench-alone"
_DATABASES: Final = f"host={ADDRESSES['primary']},{ADDRESSES['replica']}&target_session_attrs=read-write"
DATABASE_URL: Final = f"postgresql://studio:{PASSWORD}@/studio?{_DATABASES}&connect_timeout=2"
AS_POSTGRES: Final = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"]


def run(*command: str, check: bool = True, **options: Any) -> subprocess.CompletedProcess[str]:
    """A program that ends by itself."""
    done = subprocess.run(command, check=False, capture_output=True, text=True, **options)
    if check and done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stderr[-2000:]}")
    return done


@dataclass
class Host:
    """A namespace with one program, which can be killed, started again and cut off."""

    name: str
    scratch: Path
    program: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    @property
    def namespace(self) -> str:
        return f"studio-{self.name}"

    @property
    def address(self) -> str:
        return ADDRESSES[self.name]

    def inside(self, command: Sequence[str]) -> list[str]:
        """A command that runs there."""
        return ["ip", "netns", "exec", self.namespace, *command]

    def start(self) -> None:
        with (self.scratch / f"{self.name}.log").open("ab") as log:
            env = {**os.environ, **self.environment}
            self.process = subprocess.Popen(
                self.inside(self.program), stdout=log, stderr=log, env=env, cwd=ROOT, start_new_session=True
            )

    def kill(self, number: int = signal.SIGKILL) -> None:
        """All processes of its program at once, as when a machine loses power."""
        if self.process is None:
            return
        for pid in _pids_in(self.namespace):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        self.process.wait(30)
        self.process = None

    def cut_off(self) -> None:
        """Nothing reaches it, and it reaches nothing; its connections are not closed."""
        run("ip", "link", "set", f"st-{self.name}", "down")

    def connect(self) -> None:
        run("ip", "link", "set", f"st-{self.name}", "up")


def _pids_in(namespace: str) -> list[int]:
    return [int(pid) for pid in run("ip", "netns", "pids", namespace, check=False).stdout.split()]


class Network:
    """All hosts, on one bridge; this process reaches them too."""

    def __init__(self, scratch: Path, postgresql: Path) -> None:
        self.scratch, self.postgresql = scratch, postgresql
        self.hosts = {name: Host(name, scratch) for name in ADDRESSES}

    def add(self) -> None:
        """The namespaces and their links."""
        self.remove()
        run("ip", "link", "add", BRIDGE, "type", "bridge")
        run("ip", "addr", "add", "10.89.77.1/24", "dev", BRIDGE)
        run("ip", "link", "set", BRIDGE, "up")
        for host in self.hosts.values():
            space, outer = host.namespace, f"st-{host.name}"
            run("ip", "netns", "add", space)
            run("ip", "link", "add", outer, "type", "veth", "peer", "name", "eth0", "netns", space)
            run("ip", "link", "set", outer, "master", BRIDGE, "up")
            run(*host.inside(["ip", "addr", "add", f"{host.address}/24", "dev", "eth0"]))
            run(*host.inside(["ip", "link", "set", "eth0", "up"]))
            run(*host.inside(["ip", "link", "set", "lo", "up"]))

    def remove(self) -> None:
        for host in self.hosts.values():
            for pid in _pids_in(host.namespace):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            run("ip", "netns", "del", host.namespace, check=False)
            run("ip", "link", "del", f"st-{host.name}", check=False)
        run("ip", "link", "del", BRIDGE, check=False)

    def prepare(self) -> None:
        """A primary with a replica that streams from it, Redis, the tables, then everything else."""
        self.scratch.chmod(0o755)
        self._prepare_primary()
        self._prepare_replica()
        redis = self.hosts["redis"]
        redis.program = [
            "redis-server",
            "--bind",
            redis.address,
            "--protected-mode",
            "no",
            "--save",
            "",
            "--port",
            "6379",
        ]
        redis.start()
        wait_for(lambda: b"PONG" in _ask_redis(redis), 10, "Redis")
        for name in ("web1", "web2", "worker"):
            host = self.hosts[name]
            host.environment = self._settings(name)
            host.program = [
                sys.executable,
                "manage.py",
                *(["worker"] if name == "worker" else ["serve", "--workers", "1"]),
            ]
        self.manage("migrate", "--no-input")
        for name in ("web1", "web2"):
            run(*self.hosts[name].inside([sys.executable, "manage.py", "prepare_site", "--static"]),
                env={**os.environ, **self._settings(name)}, cwd=ROOT, check=False)  # fmt: skip
        for name in ("web1", "web2", "worker"):
            self.hosts[name].start()
        self._start_nginx()

    def manage(self, *arguments: str, text: str | None = None) -> str:
        """A command of the product, on the first web host."""
        host = self.hosts["web1"]
        command = host.inside([sys.executable, "manage.py", *arguments])
        return run(*command, env={**os.environ, **self._settings("web1")}, cwd=ROOT, input=text).stdout

    def _settings(self, name: str) -> dict[str, str]:
        folder = self.scratch / f"data-{name}"
        folder.mkdir(exist_ok=True)
        return {
            "DATA_DIR": str(folder), "DATABASE_URL": DATABASE_URL, "SECRET_KEY": "k" * 50, "EMBEDDER": "none",
            "REDIS_URL": f"redis://{ADDRESSES['redis']}:6379/0", "HOST": ADDRESSES[name], "PORT": "8000",
            "ALLOWED_HOSTS": ",".join(ADDRESSES.values()), "TRUSTED_PROXIES": ADDRESSES["nginx"], "EXAMPLES": "off",
            "RATE_LIMITS": "off", "AGENT_API_PUBLIC_READ": "off",
        }  # fmt: skip

    def _prepare_primary(self) -> None:
        host, folder = self.hosts["primary"], self.scratch / "primary"
        folder.mkdir()
        shutil.chown(folder, "postgres", "postgres")
        run(
            *AS_POSTGRES,
            str(self.postgresql / "initdb"),
            "--pgdata",
            str(folder),
            "--auth",
            "trust",
            "--username",
            "postgres",
        )
        with (folder / "pg_hba.conf").open("a") as rules:
            rules.write("host all all 10.89.77.0/24 trust\nhost replication all 10.89.77.0/24 trust\n")
        host.program = self._postgres(folder, host.address)
        host.start()
        self.wait_database("primary")
        run(
            "psql",
            "-h",
            host.address,
            "-U",
            "postgres",
            "-c",
            f"CREATE ROLE studio LOGIN SUPERUSER PASSWORD '{PASSWORD}'",
        )
        run("psql", "-h", host.address, "-U", "postgres", "-c", "CREATE DATABASE studio OWNER studio")

    def _prepare_replica(self) -> None:
        host, folder = self.hosts["replica"], self.scratch / "replica"
        folder.mkdir()
        shutil.chown(folder, "postgres", "postgres")
        folder.chmod(0o700)
        copy = [
            str(self.postgresql / "pg_basebackup"),
            "--pgdata",
            str(folder),
            "--write-recovery-conf",
            "--checkpoint=fast",
        ]
        run(*host.inside([*AS_POSTGRES, *copy, "--host", ADDRESSES["primary"], "--username", "postgres"]))
        host.program = self._postgres(folder, host.address)
        host.start()
        self.wait_database("replica")

    def _postgres(self, folder: Path, address: str) -> list[str]:
        settings = {
            "listen_addresses": address, "unix_socket_directories": "", "max_connections": "60",
            "shared_buffers": "64MB", "wal_keep_size": "512MB", "wal_receiver_timeout": "3s",
            "wal_sender_timeout": "3s",
        }  # fmt: skip
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return [*AS_POSTGRES, str(self.postgresql / "postgres"), "-D", str(folder), *options]

    def wait_database(self, name: str) -> None:
        ready = [str(self.postgresql / "pg_isready"), "-q", "-h", ADDRESSES[name]]
        wait_for(lambda: run(*ready, check=False).returncode == 0, 30, name)

    def promote(self) -> None:
        """Make the replica the primary."""
        folder = self.scratch / "replica"
        host = self.hosts["replica"]
        run(*host.inside([*AS_POSTGRES, str(self.postgresql / "pg_ctl"), "promote", "-D", str(folder), "-w"]))

    def _start_nginx(self) -> None:
        """The product's own files, with two hosts of fixed addresses in the place of containers."""
        host, folder = self.hosts["nginx"], self.scratch / "nginx"
        shutil.copytree(ROOT / "deploy" / "nginx", folder)
        servers = "".join(f"server {ADDRESSES[name]}:8000 max_fails=1 fail_timeout=2s; " for name in ("web1", "web2"))
        upstreams = "".join(
            f"upstream {name} {{ {servers} keepalive 32; keepalive_timeout 20s; }}\n" for name in ("agents", "studio")
        )
        (folder / "parts" / "upstreams.conf").write_text(upstreams)
        for path in folder.rglob("*.conf"):
            path.write_text(path.read_text().replace("/tmp/", f"{folder}/").replace("/dev/stdout studio", "off"))
        folder.chmod(0o777)
        host.program = ["nginx", "-e", "stderr", "-c", str(folder / "http.conf"), "-g", "daemon off; user root;"]
        host.start()


def _ask_redis(host: Host) -> bytes:
    import socket

    with contextlib.suppress(OSError), socket.create_connection((host.address, 6379), 1) as connection:
        connection.sendall(b"PING\r\n")
        return connection.recv(100)
    return b""


def wait_for(is_there: Callable[[], bool], seconds: float, what: str) -> None:
    deadline = time.monotonic() + seconds
    while not is_there():
        if time.monotonic() > deadline:
            raise SystemExit(f"{what} did not come up")
        time.sleep(0.02)
