"""docs/deploy.md and what it installs: commands that exist, settings that exist, units and sites that are read."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

from studio.config.environment import VARIABLES, read_environment
from tests.servers import ROOT
from tests.system.composed import compose_file
from tests.system.stack import for_older_nginx, make_certificate

pytestmark = [pytest.mark.system]

PAGE = (ROOT / "docs/deploy.md").read_text("utf-8")
BLOCKS = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
UNITS = sorted((ROOT / "deploy/systemd").glob("*.service"))
ENV = (ROOT / "deploy/debian/env.example").read_text("utf-8")
# What Python itself reads.
PYTHONS = {"PYTHONDONTWRITEBYTECODE"}
HARDENING = {
    "NoNewPrivileges": "true",
    "ProtectSystem": "strict",
    "ProtectHome": "true",
    "PrivateTmp": "true",
    "PrivateDevices": "true",
    "ProtectKernelTunables": "true",
    "ProtectKernelModules": "true",
    "ProtectControlGroups": "true",
    "RestrictSUIDSGID": "true",
    "RestrictNamespaces": "true",
    "LockPersonality": "true",
    "CapabilityBoundingSet": "",
    "AmbientCapabilities": "",
    "UMask": "0077",
}
each_unit = pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.stem)


def _lines() -> Iterator[list[str]]:
    """Each command of the page as words."""
    for block in BLOCKS:
        for line in block.replace("\\\n", " ").splitlines():
            yield shlex.split(line)


def _values(unit: Path) -> dict[str, str]:
    """Its settings; of one that is given twice, the last."""
    lines = [line.partition("=") for line in unit.read_text("utf-8").splitlines() if line[:1] not in "#["]
    return {name: value for name, equals, value in lines if equals}


def _names(text: str) -> set[str]:
    return set(re.findall(r"^([A-Z][A-Z_]*)=", text, re.MULTILINE))


def assert_manage_takes(words: list[str]) -> None:
    """These are a command of manage.py and options that it has."""
    name, *arguments = words
    command = load_command_class(get_commands()[name], name)
    command.create_parser("manage.py", name).parse_args(arguments)


@pytest.mark.parametrize("block", BLOCKS)
def test_the_shell_reads_each_block(block: str) -> None:
    done = subprocess.run(["bash", "-n"], input=block, text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_file_that_is_named_is_there() -> None:
    named = set(re.findall(r"\bdeploy/(?:nginx|systemd|debian)/[\w./*-]+", PAGE)) - {"deploy/nginx/edge.conf"}
    assert len(named) > 6
    assert not [name for name in named if not list(ROOT.glob(name))]


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\((?!http|#)([^)#]+)\)", PAGE))))
def test_every_link_leads_somewhere(link: str) -> None:
    assert (ROOT / "docs" / link).exists()


def test_every_command_of_manage_exists() -> None:
    calls = [shlex.split(call) for call in re.findall(r"(?:studio-| )manage +([a-z_]+[^)\n]*)", "".join(BLOCKS))]
    for words in calls:
        assert_manage_takes(words)
    assert {words[0] for words in calls} == {"operator", "agent_key", "bundle", "migrate", "prepare_site"}


def test_compose_is_asked_for_services_that_exist() -> None:
    services = set(compose_file()["services"])
    named = set(re.findall(r"\b(web-\w+)\b", PAGE)) | set(re.findall(r"--scale ([\w-]+)=", PAGE))
    named |= {
        words[4] for words in _lines() if words[:4] == ["docker", "compose", "run", "--rm"] and words[4][0] != "-"
    }
    assert named <= services


def test_the_page_and_the_units_name_each_other() -> None:
    assert len(UNITS) == 4
    named = set(
        re.findall(r"capability-studio-(?:agents|pages|celery|worker|\w+)(?= |$)", " ".join(BLOCKS).replace("\n", " "))
    )
    assert {name for name in named if name != "capability-studio-build"} == {unit.stem for unit in UNITS}


@each_unit
def test_a_unit_starts_what_is_installed(unit: Path) -> None:
    values = _values(unit)
    assert values["WorkingDirectory"] == "/opt/capability-studio"
    program, *words = values["ExecStart"].split()
    assert program in {"/opt/capability-studio/.venv/bin/python", "/opt/capability-studio/.venv/bin/celery"}
    if program.endswith("python"):
        assert words[0] == "manage.py"
        assert_manage_takes(words[1:])
    else:
        assert words[:3] == ["-A", "studio", "worker"]
        # systemd puts the home directory in place of %h.
        assert "studio@%%h" in words


@each_unit
def test_a_unit_sets_what_is_a_setting(unit: Path) -> None:
    values = _values(unit)
    given = [line for line in unit.read_text("utf-8").splitlines() if line.startswith("Environment=")]
    assert {line.split("=")[1] for line in given} <= set(VARIABLES)
    assert values["EnvironmentFile"] == "/etc/capability-studio/env"


@each_unit
def test_a_unit_has_no_right_that_it_does_not_need(unit: Path) -> None:
    values = _values(unit)
    assert values["User"] == values["Group"] == "capability-studio"
    assert {name: values.get(name) for name in HARDENING} == HARDENING
    assert values["StateDirectory"] == "capability-studio"
    # All of it may be written, and nothing else.
    assert "ReadWritePaths" not in values


def test_the_settings_of_the_units_are_settings() -> None:
    assert _names(ENV) <= set(VARIABLES) | PYTHONS
    asked = {name for name in _names(ENV) if f"\n{name}=\n" in ENV}
    filled = set(re.findall(r"s\|\^(\w+)=\.\*\|", PAGE))
    assert asked == filled


def test_the_settings_that_the_page_writes_are_read(tmp_path: Path) -> None:
    """The page's own sed, on the file that it names, read as the services read it."""
    (block,) = [block for block in BLOCKS if "env.example" in block]
    (sed,) = re.findall(r"^sed .*?env\.example", block, re.DOTALL | re.MULTILINE)
    script = f"NAME=studio.example.com REDIS_PASSWORD=0123abcd\n{sed}"
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl: apt install openssl")
    text = subprocess.run(["bash", "-ec", script], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    environ = dict(line.split("=", 1) for line in text.splitlines() if line and line[0] != "#")
    environment = read_environment(environ, base_dir=tmp_path)
    assert environment.warnings == ()
    assert environment.database is not None
    assert (environment.database.host, environment.database.name) == ("/run/postgresql", "capability-studio")
    assert environment.public_url == "https://studio.example.com"
    assert str(environment.data_dir) == "/var/lib/capability-studio"
    assert environment.agent_api_public_read is False


def test_the_wrapper_reads_the_same_settings() -> None:
    text = (ROOT / "deploy/debian/studio-manage").read_text("utf-8")
    assert ". /etc/capability-studio/env" in text
    assert "/opt/capability-studio/.venv/bin/python manage.py" in text
    assert subprocess.run(["sh", "-n"], input=text, text=True, check=False).returncode == 0


if shutil.which("systemd-analyze"):

    @each_unit
    def test_systemd_reads_a_unit(unit: Path) -> None:
        """Where systemd is: it names every setting that it does not know."""
        command = ["systemd-analyze", "verify", "--man=no", str(unit)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        said = [line for line in done.stderr.splitlines() if unit.name in line]
        # The program is not where an installation puts it.
        assert not [line for line in said if "is not executable" not in line]


@pytest.mark.nginx
@pytest.mark.parametrize("mode", ["tls", "http", "debian"])
def test_nginx_reads_each_configuration(mode: str, nginx: str, tmp_path: Path) -> None:
    """As it is committed, but for places of this machine and for the release that the image has and Debian has not."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl: apt install openssl")
    make_certificate(tmp_path / "tls")
    shutil.copytree(ROOT / "deploy/nginx", tmp_path / "nginx")
    (tmp_path / "nginx/edge.conf").write_text("\n".join(re.findall(r"```nginx\n(.*?)```", PAGE, re.DOTALL)))
    shutil.copy(ROOT / "deploy/debian/site.conf", tmp_path / "nginx/site.conf")
    wrapped = "events {}\npid /tmp/nginx.pid;\nhttp {\n  include site.conf;\n}\n"
    (tmp_path / "nginx/debian.conf").write_text(wrapped)
    for path in (tmp_path / "nginx").rglob("*.conf"):
        text = for_older_nginx(path.read_text("utf-8")).replace("/tmp/", f"{tmp_path}/")
        text = text.replace("/etc/nginx/capability-studio/", "parts/").replace("/etc/nginx/tls", f"{tmp_path}/tls")
        text = re.sub(r"web-(agents|studio):", "127.0.0.1:", text).replace("/var/log/nginx", str(tmp_path))
        # Only root may have the first thousand ports.
        path.write_text(text.replace("listen 80;", "listen 8080;").replace("listen 443 ", "listen 8443 "))
    command = [nginx, "-t", "-e", "stderr", "-c", str(tmp_path / "nginx" / f"{mode}.conf")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "[warn]" not in done.stderr
