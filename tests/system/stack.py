"""docker-compose.yml without Docker: each service's own command and environment, started on this machine.

Names of hosts become ports on loopback, volumes and memory file systems become directories below one scratch directory,
/opt/venv becomes a venv over this interpreter's packages. Where we are root, everything runs as another user, to whom
the code is read-only, as it is in the image.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from studio.launcher.env_file import write_compose_env
from tests.servers import (
    OURSELVES,
    ROOT,
    Identity,
    Server,
    ServerError,
    _as,
    _postgresql_programs,
    free_port,
    keep,
    unprivileged,
)
from tests.system.composed import compose_file, copy_build_context, dockerfile, image_environment, interpolated

# From what listens to what is served through it; stopped the other way round.
ORDER = ("db", "redis", "web-agents", "web-studio", "celery", "celery-webhooks", "celery-heavy", "worker", "nginx")
WEB = ("web-agents", "web-studio")


@dataclass
class Stack:
    """What `docker compose up` starts, running here."""

    scratch: Path
    identity: Identity
    services: dict[str, dict[str, Any]]
    ports: dict[str, int]
    places: list[tuple[str, str]]
    path: str
    running: dict[str, Server] = field(default_factory=dict)
    exit_codes: dict[str, int] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """PUBLIC_URL: where nginx speaks HTTPS."""
        return f"https://localhost:{self.ports['https']}"

    @property
    def certificate(self) -> Path:
        return self.scratch / "tls" / "fullchain.pem"

    def place(self, text: str, service: str = "") -> str:
        """What stands in a container for what is here."""
        for inside, here in self.places:
            text = text.replace(inside, here)
        return text.replace("127.0.0.1:8000", f"127.0.0.1:{self.ports.get(service)}")

    def environment(self, service: str) -> dict[str, str]:
        """Nothing of ours: the image's variables, then the service's."""
        given = {**(image_environment() if "build" in self.services[service] else {})}
        given.update(self.services[service].get("environment", {}))
        env = {name: self.place(str(value), service) for name, value in given.items()}
        env["PATH"] = self.path
        if service in WEB:
            env["PORT"] = str(self.ports[service])
            # In a container the server is reached from outside of it.
            env["HOST"] = "127.0.0.1"
        return env

    def command(self, service: str, words: Sequence[str] | None = None) -> list[str]:
        """The words as an absolute command; the service's own by default."""
        own = self.services[service]
        words = words or [*own.get("entrypoint", []), *own.get("command", [])]
        program, *arguments = [self.place(word, service) for word in words]
        found = shutil.which(program, path=self.path)
        if found is None:
            raise ServerError(f"{program} is not installed")
        return [found, *arguments]

    def start(self, service: str) -> None:
        """Start it and wait until its own health check passes."""
        log = self.scratch / f"{service}.log"
        command = [*_as(self.identity), *self.command(service)]
        signal = self.services[service].get("stop_signal", "SIGTERM")
        process = keep(
            command,
            log=log,
            stop_signal=signal,
            env={**self.environment(service), "HOME": "/nonexistent"},
            cwd=self.cwd,
        )
        self.running[service] = Server(service, log, process)
        self.running[service].wait_until(lambda: self.is_healthy(service), timeout_seconds=90)

    @property
    def cwd(self) -> Path:
        return self.scratch / "studio"

    def is_healthy(self, service: str) -> bool:
        kind, *words = self.services[service]["healthcheck"]["test"]
        if kind == "CMD-SHELL":
            words = ["sh", "-c", *words]
        return self.run(service, words).returncode == 0

    def run(
        self, service: str, words: Sequence[str] | None = None, text: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in what stands for the service's container."""
        env = {**self.environment(service), "PGPORT": str(self.ports["db"])}
        return subprocess.run(
            self.command(service, words),
            env=env,
            cwd=self.cwd,
            input=text,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            **self.identity.popen_arguments,
        )

    def manage(self, *arguments: str, text: str | None = None) -> str:
        """`docker compose run --rm manage ARGUMENTS`; what it printed."""
        words = [*self.services["manage"]["entrypoint"], *arguments]
        done = self.run("manage", words, text)
        if done.returncode != 0:
            raise ServerError(f"manage {' '.join(arguments)}: {done.stdout}{done.stderr}")
        return done.stdout

    def stop(self, service: str) -> int:
        """Ask it to end as compose does; its exit code."""
        server = self.running.pop(service)
        server.stop()
        self.exit_codes[service] = server.process.returncode
        return server.process.returncode

    def stop_all(self) -> None:
        for service in reversed(ORDER):
            if service in self.running:
                self.stop(service)

    def log(self, service: str) -> str:
        return (self.scratch / f"{service}.log").read_text(errors="replace")


def make_stack(nginx: str) -> Stack:
    """Everything prepared and nothing started. Call `start_all`, and `remove` in the end."""
    scratch = Path(tempfile.mkdtemp(prefix="stack-", dir="/tmp" if Path("/tmp").is_dir() else None))
    scratch.chmod(0o755)
    identity = _identity(scratch)
    ports = {name: free_port() for name in ("db", "redis", "web-agents", "web-studio", "http", "https", "alive")}
    env = _env_file(scratch, f"https://localhost:{ports['https']}")
    env["TLS_DIR"], env["STUDIO_SUBNET"] = str(scratch / "tls"), "127.0.0.1/32"
    services = interpolated(compose_file()["services"], env)
    programs = _postgresql_programs(scratch, identity)
    path = f"{scratch}/venv/bin:{programs}:{Path(nginx).parent}:/usr/local/bin:/usr/bin:/bin"
    stack = Stack(scratch, identity, services, ports, _places(scratch, ports), path)
    for name in ("data", "checkpoint", "redis-data", "db-data", "tmp", "nginx-tmp"):
        (scratch / name).mkdir(mode=0o700)
        identity.own(scratch / name)
    _make_image(stack)
    _make_nginx(stack)
    make_certificate(scratch / "tls")
    identity.own(scratch / "tls" / "privkey.pem")
    return stack


def _identity(scratch: Path) -> Identity:
    """Another user if it can have a Python with our packages, else ourselves."""
    identity = unprivileged()
    for chosen in (identity, OURSELVES):
        for python in (sys.executable, "/usr/bin/python3"):
            if _make_venv(python, scratch / "venv", chosen):
                return chosen
    raise ServerError("no Python can import what this one can")


def _make_venv(python: str, venv: Path, identity: Identity) -> bool:
    """What stands for /opt/venv: a venv that finds the packages of this interpreter."""
    import django

    packages = Path(django.__file__).parent.parent
    shutil.rmtree(venv, ignore_errors=True)
    made = subprocess.run([python, "-m", "venv", "--without-pip", str(venv)], capture_output=True, check=False)
    if made.returncode != 0:
        return False
    (site,) = venv.glob("lib/python3*/site-packages")
    (site / "packages.pth").write_text(f"{packages}\n")
    # The lock installs it before Python 3.11.3, which the interpreter of these tests may be past and this one not.
    (site / "async_timeout.py").write_text("from asyncio import timeout as timeout\n")
    celery = venv / "bin" / "celery"
    celery.write_text(f"#!{venv}/bin/python\nimport sys\nfrom celery.__main__ import main\nsys.exit(main())\n")
    celery.chmod(0o755)
    probe = [str(venv / "bin/python"), "-c", "import celery, django, granian, orjson, psycopg, redis, zstandard"]
    try:
        done = subprocess.run(probe, capture_output=True, check=False, cwd="/", **identity.popen_arguments)
    except OSError:
        return False
    return done.returncode == 0


def _env_file(scratch: Path, public_url: str) -> dict[str, str]:
    """What `python3 run.py secrets` writes."""
    shutil.copy(ROOT / ".env.example", scratch)
    write_compose_env(scratch, [public_url])
    lines = (scratch / ".env").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def _places(scratch: Path, ports: Mapping[str, int]) -> list[tuple[str, str]]:
    return [
        ("@db:5432", f"@127.0.0.1:{ports['db']}"),
        ("@redis:6379", f"@127.0.0.1:{ports['redis']}"),
        ("-p 6379", f"-p {ports['redis']}"),
        ("6379", str(ports["redis"])),
        # Valkey's ancestor takes the same flags and commands, and is what distributions have.
        ("valkey-", "redis-"),
        ("127.0.0.1:8079", f"127.0.0.1:{ports['alive']}"),
        ("/srv/studio", f"{scratch}/studio"),
        ("/var/lib/studio", f"{scratch}/data"),
        ("/var/lib/checkpoint", f"{scratch}/checkpoint"),
        ("/opt/venv", f"{scratch}/venv"),
        ("/etc/nginx/studio", f"{scratch}/nginx"),
        ("/etc/nginx/tls", f"{scratch}/tls"),
        ("/tmp/alive", f"{scratch}/tmp/alive"),
    ]


def _make_image(stack: Stack) -> None:
    """Do what the Dockerfile does with our own files, then take the right to write away."""
    copy_build_context(stack.cwd)
    env = {"PATH": stack.path, "HOME": str(stack.scratch)}
    steps = [one.text for one in dockerfile() if one.name == "RUN" and "/srv/studio" in one.text]
    assert steps[0].endswith("manage.py prepare_site --static")
    for step in steps:
        # The packages are compiled where they are; only what we copied is.
        command = (
            stack.place(step).replace("/tmp/build", f"{stack.scratch}/build").replace(f"{stack.scratch}/venv/lib", "")
        )
        subprocess.run(["sh", "-ec", command], cwd=stack.cwd, env=env, check=True, capture_output=True)
    for path in [stack.cwd, *stack.cwd.rglob("*")]:
        path.chmod(path.stat().st_mode & ~0o222 | (0o555 if path.is_dir() else 0o444))


def for_older_nginx(text: str) -> str:
    """Debian 12's nginx does not follow a name as its addresses change, and has no directive for HTTP/2."""
    text = re.sub(r"resolver .*;", "", text).replace(" resolve;", ";")
    return text.replace("ssl default_server;", "ssl http2 default_server;").replace("http2 on;", "")


def _make_nginx(stack: Stack) -> None:
    """The committed configuration with this machine's ports and directories."""
    target = stack.scratch / "nginx"
    shutil.copytree(ROOT / "deploy" / "nginx", target)
    for path in target.rglob("*.conf"):
        text = path.read_text()
        for name, inside in (("http", "8080"), ("https", "8443")):
            text = text.replace(f"listen {inside}", f"listen 127.0.0.1:{stack.ports[name]}")
        for name in ("web-agents", "web-studio"):
            text = text.replace(f"server {name}:8000", f"server 127.0.0.1:{stack.ports[name]}")
        text = for_older_nginx(text).replace("/tmp/", f"{stack.scratch}/nginx-tmp/")
        path.write_text(stack.place(text).replace("/dev/stdout", f"{stack.scratch}/nginx-tmp/access.log"))


def make_certificate(tls: Path) -> None:
    """One for localhost that signs itself, named as nginx's configuration has it."""
    tls.mkdir()
    command = [
        *["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"],
        *["-addext", "subjectAltName=DNS:localhost", "-keyout", str(tls / "privkey.pem")],
        *["-out", str(tls / "fullchain.pem")],
    ]
    subprocess.run(command, check=True, capture_output=True)


def initialise_database(stack: Stack) -> None:
    """What the image's entry point does in an empty volume."""
    given = stack.services["db"]["environment"]
    data = stack.scratch / "db-data"
    password = stack.scratch / "password"
    password.write_text(given["POSTGRES_PASSWORD"])
    stack.identity.own(password)
    command = ["initdb", "-D", str(data), "-U", given["POSTGRES_USER"], f"--pwfile={password}", "--encoding=UTF8"]
    command += ["--no-sync", *given["POSTGRES_INITDB_ARGS"].split()]
    done = stack.run("db", command)
    password.unlink()
    if done.returncode != 0:
        raise ServerError(done.stdout + done.stderr)
    # The image's own default command, on a port and with a socket of this machine.
    stack.services["db"]["command"] = [
        *["postgres", "-D", str(data), "-c", f"port={stack.ports['db']}", "-c", "listen_addresses=127.0.0.1"],
        *["-c", f"unix_socket_directories={data}", "-c", "fsync=off", "-c", "shared_buffers=64MB"],
    ]


def start_all(stack: Stack) -> None:
    """In the order in which compose starts them: each waits for what it depends on."""
    initialise_database(stack)
    stack.services["redis"]["command"] = [
        str(stack.scratch / "redis-data") if word == "/data" else word for word in stack.services["redis"]["command"]
    ]
    stack.services["redis"]["command"] += ["--bind", "127.0.0.1"]
    password = stack.services["redis"]["environment"].pop("VALKEYCLI_AUTH")
    stack.services["redis"]["environment"]["REDISCLI_AUTH"] = password
    stack.start("db")
    create = [
        "psql",
        "-h",
        str(stack.scratch / "db-data"),
        "-U",
        "studio",
        "-d",
        "postgres",
        "-c",
        "CREATE DATABASE studio",
    ]
    created = stack.run("db", create)
    if created.returncode != 0:
        raise ServerError(created.stderr)
    stack.start("redis")
    migrated = stack.run("migrate")
    if migrated.returncode != 0:
        raise ServerError(f"migrate: {migrated.stdout}{migrated.stderr}")
    for service in ORDER[2:]:
        stack.start(service)


def remove(stack: Stack) -> None:
    stack.stop_all()
    for path in [stack.cwd, *stack.cwd.rglob("*")]:
        if path.is_dir():
            path.chmod(0o755)
    shutil.rmtree(stack.scratch, ignore_errors=True)


def wait_for(is_true: Any, seconds: float, what: str) -> None:
    deadline = time.monotonic() + seconds
    while not is_true():
        if time.monotonic() > deadline:
            raise ServerError(f"{what} did not come within {seconds} s")
        time.sleep(0.2)


def processes_below(pid: int) -> list[int]:
    """Every process that a server has started."""
    children = [int(name) for name in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return [*children, *(below for child in children for below in processes_below(child))]


def owner_of(pid: int) -> int:
    return Path(f"/proc/{pid}").stat().st_uid
