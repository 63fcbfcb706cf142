"""The image, built from the Dockerfile and started: first start, a publish, a webhook, a restart, a move, a stop.

Buildah runs it without a daemon, in a directory of its own (`chroot`), with the user and the volume that it has
everywhere. What only an engine holds to, the health check, read_only and cap_drop, is not seen here.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import httpx2
import pytest

from tests.factories import bundle
from tests.git_https import commit, git
from tests.receivers import Receiver
from tests.servers import ROOT, answers, free_port

pytestmark = [pytest.mark.system, pytest.mark.rare]

BASE: Final = "localhost/python-base"
IMAGE: Final = "localhost/capability-studio-test"
DATA_DIR: Final = "/var/lib/studio"
# Above its base image.
MEGABYTES_MAX: Final = 416
PROGRAM: Final = "studio.launcher.installed"
_ENV: Final = {**os.environ, "STORAGE_DRIVER": "vfs", "BUILDAH_ISOLATION": "chroot"}


def _buildah(*arguments: str) -> str:
    command = ["buildah", *arguments]
    done = subprocess.run(command, env=_ENV, capture_output=True, text=True, check=False, timeout=1800)
    assert done.returncode == 0, f"{' '.join(command)}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout.strip()


@dataclass
class Container:
    """A working container of the image, and one volume in it."""

    name: str
    volume: Path
    port: int = field(default_factory=free_port)
    settings: tuple[str, ...] = ()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _command(self, *words: str) -> list[str]:
        settings = [f"PORT={self.port}", "HOST=127.0.0.1", *self.settings]
        mount = f"{self.volume}:{DATA_DIR}"
        return ["run", "--user", "10001:10001", "--volume", mount, self.name, "--", "env", *settings, *words]

    def run(self, *words: str) -> str:
        return _buildah(*self._command(*words))

    def manage(self, *words: str) -> str:
        return self.run("python", "manage.py", *words)

    def stop(self, process: subprocess.Popen[bytes]) -> float:
        """Send SIGTERM as an engine does, to the command and nobody else; how long it then takes, in seconds."""
        began = time.monotonic()
        os.kill(self.find_command(), signal.SIGTERM)
        process.wait(60)
        return time.monotonic() - began

    def find_command(self) -> int:
        """Its process. Raises AssertionError where it does not run."""
        # Buildah's threads start it, so that it is not among the children of its process.
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                is_it = (folder / "cmdline").read_bytes().startswith(f"python\0-m\0{PROGRAM}\0".encode())
                if is_it and f"PORT={self.port}\0".encode() in (folder / "environ").read_bytes():
                    return int(folder.name)
        raise AssertionError("the command does not run")

    def start(self, log: Path) -> subprocess.Popen[bytes]:
        """What compose.small.yml starts; returns when it answers."""
        with log.open("wb") as output:
            command = ["buildah", *self._command("python", "-m", PROGRAM)]
            process = subprocess.Popen(command, env=_ENV, stdout=output, stderr=output)
        deadline = time.monotonic() + 300
        while not answers(f"{self.url}/readyz"):
            is_starting = process.poll() is None and time.monotonic() < deadline
            assert is_starting, log.read_text(errors="replace")
            time.sleep(0.2)
        return process


@pytest.fixture(scope="module")
def image() -> Iterator[str]:
    if shutil.which("buildah") is None or shutil.which("debootstrap") is None or os.geteuid() != 0:
        pytest.skip("needs root and Buildah: apt install buildah debootstrap crun")
    if BASE not in _buildah("images", "--format", "{{.Name}}"):
        subprocess.run([ROOT / "deploy" / "test_base.sh"], check=True, timeout=1800)
    options = ["--pull-never", "--build-arg", f"PYTHON_IMAGE={BASE}", "--network", "host", "--tag", IMAGE]
    _buildah("bud", *options, str(ROOT))
    yield IMAGE
    _buildah("rmi", IMAGE)


@pytest.fixture
def container(image: str, tmp_path: Path) -> Iterator[Container]:
    volume = tmp_path / "volume"
    volume.mkdir()
    os.chown(volume, 10001, 10001)
    name = _buildah("from", "--pull-never", image)
    container = Container(name, volume)
    yield container
    # Of a test that failed.
    with contextlib.suppress(AssertionError):
        os.kill(container.find_command(), signal.SIGKILL)
    _buildah("rm", name)


def _size_megabytes(image: str) -> float:
    inspected = json.loads(_buildah("inspect", "--type", "image", image))
    mounted = _buildah("from", "--pull-never", image)
    try:
        files = subprocess.run(
            ["du", "--summarize", "--bytes", _buildah("mount", mounted)], capture_output=True, text=True, check=True
        )
    finally:
        _buildah("rm", mounted)
    assert inspected["OCIv1"]["architecture"]
    return int(files.stdout.split()[0]) / 1e6


def test_the_image_is_no_larger_than_it_may_be(image: str) -> None:
    assert _size_megabytes(image) - _size_megabytes(BASE) <= MEGABYTES_MAX


def test_every_import_of_the_product_is_in_the_image(container: Container) -> None:
    """Its build takes out what nothing loads."""
    shutil.copy(ROOT / "tests" / "system" / "import_program.py", container.volume)
    printed = container.run("env", "PYTHONPATH=.", "python", f"{DATA_DIR}/import_program.py", "/srv/studio")
    assert json.loads(printed.splitlines()[-1]) == []


def test_git_reads_a_repository(container: Container, tmp_path: Path) -> None:
    """Its Perl is taken out."""
    repository = tmp_path / "repository"
    repository.mkdir()
    git(repository, "init", "-q")
    commit(repository, {"bundles/alpha/skill.md": "# Alpha\n"})
    shutil.copytree(repository, container.volume / "repository")
    subprocess.run(["chown", "-R", "10001:10001", container.volume], check=True)
    container.run("git", "clone", "--quiet", "--bare", f"{DATA_DIR}/repository", f"{DATA_DIR}/copy")
    shown = container.run("git", "-C", f"{DATA_DIR}/copy", "show", "HEAD:bundles/alpha/skill.md")
    assert shown == "# Alpha"


def test_a_registry_lives_in_a_volume(container: Container, tmp_path: Path) -> None:
    container.settings = ("WEBHOOK_ALLOWED_NETWORKS=127.0.0.0/8",)
    marker = tmp_path / "marker"
    marker.touch()
    log = tmp_path / "first"
    process = container.start(log)
    key = re.search(r"csk_\S+", log.read_text())
    assert key is not None
    headers = {"Authorization": f"Bearer {key[0]}"}
    listed = httpx2.get(f"{container.url}/api/v1/capability_registry_list", headers=headers, timeout=60).json()
    assert "weights" in {one["capability_id"] for one in listed["capabilities"]}
    receiver = Receiver()
    try:
        container.manage("webhook", "create", "chat", "--url", f"http://127.0.0.1:{receiver.port}/hook")
        created = container.manage("agent_key", "create", "pipeline", "--scopes", "read,publish").split()[-1]
        headers = {"Authorization": f"Bearer {created}"}
        body = {"bundles": [{"path": "a", "files": bundle()}]}
        answer = httpx2.post(f"{container.url}/api/v1/operator/bundle_publish", json=body, headers=headers, timeout=60)
        assert answer.json()["results"][0]["status"] == "published", answer.text
        deadline = time.monotonic() + 60
        while not receiver.requests:
            assert time.monotonic() < deadline, log.read_text(errors="replace")
            time.sleep(0.2)
    finally:
        receiver.stop()
    # The grace of compose.small.yml.
    assert container.stop(process) < 15

    process = container.start(tmp_path / "second")
    assert "csk_" not in (tmp_path / "second").read_text()
    address = "/api/v1/capability_skill_load?capability_id=alpha"
    loaded = httpx2.get(container.url + address, headers=headers, timeout=60).json()
    container.manage("backup", "create", "--to", f"{DATA_DIR}/backup.zip")
    assert container.stop(process) < 15

    other = Container(container.name, tmp_path / "other")
    other.volume.mkdir()
    shutil.copy(container.volume / "backup.zip", other.volume)
    for path in (other.volume, other.volume / "backup.zip"):
        os.chown(path, 10001, 10001)
    other.manage("migrate", "--verbosity", "0")
    other.manage("backup", "restore", f"{DATA_DIR}/backup.zip")
    process = other.start(tmp_path / "third")
    moved = httpx2.get(other.url + address, headers=headers, timeout=60).json()
    assert moved["digest"] == loaded["digest"]
    assert other.stop(process) < 15

    root = _buildah("mount", container.name)
    written = subprocess.run(
        ["find", root, "-xdev", "-newer", str(marker), "-type", "f", "-not", "-path", f"{root}/tmp/*"],
        capture_output=True,
        text=True,
        check=True,
    )
    # Buildah writes these for the container.
    assert {Path(line).name for line in written.stdout.split()} <= {"hosts", "resolv.conf", ".containerenv"}
