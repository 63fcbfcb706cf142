"""The rules that the container files keep. What they start is tested by test_composed_stack.py."""

from __future__ import annotations

import re
import stat
from typing import Any

import pytest
import yaml

from capability_rules.bundles.archives import ARCHIVE_BYTES_MAX
from capability_rules.bundles.file_pointer import CONTENT_BYTES_MAX
from studio.config.environment import SETTINGS, VARIABLES
from studio.launcher.commands import ROOT
from studio.launcher.env_file import fill_template, values_for
from studio.launcher.serving import MALLOC
from tests.system.composed import (
    build_context,
    compose_file,
    dockerfile,
    image_environment,
    is_ignored,
    last,
    variables,
)

pytestmark = [pytest.mark.system]

SERVICES: dict[str, dict[str, Any]] = compose_file()["services"]
ONE_SHOT = {"migrate", "manage"}
OURS = {name for name, service in SERVICES.items() if "build" in service}
each_service = pytest.mark.parametrize("name", SERVICES)


def env_example() -> dict[str, str]:
    """Each variable with the value that its line gives, also where the line is a comment."""
    text = (ROOT / ".env.example").read_text("utf-8")
    return dict(re.findall(r"^#?([A-Z][A-Z_]*)=(.*)$", text, re.MULTILINE))


@each_service
def test_a_service_says_when_it_is_well(name: str) -> None:
    service = SERVICES[name]
    if name in ONE_SHOT:
        assert service["healthcheck"] == {"disable": True}
        assert service["restart"] == "no"
        return
    check = service["healthcheck"]
    assert check["test"][0] in {"CMD", "CMD-SHELL"}
    assert {"interval", "timeout", "start_period", "retries"} <= set(check)
    assert service["restart"] == "unless-stopped"
    assert "stop_grace_period" in service


@each_service
def test_a_service_has_no_right_that_it_does_not_need(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not {"privileged", "cap_add", "devices", "pid", "ipc", "network_mode", "userns_mode"} & set(service)
    assert not any("docker.sock" in volume for volume in service.get("volumes", []))
    # Ours is said in the Dockerfile.
    assert name in OURS or re.fullmatch(r"[1-9]\d*:[1-9]\d*", service["user"])
    assert set(service["deploy"]["resources"]["limits"]) == {"cpus", "memory", "pids"}
    assert service["logging"]["options"]["max-size"]


def test_the_small_file_is_one_service_with_its_data_in_a_volume() -> None:
    document = yaml.safe_load((ROOT / "deploy" / "compose.small.yml").read_text("utf-8"))
    (service,) = document["services"].values()
    assert service["read_only"] is True
    assert (service["cap_drop"], service["security_opt"]) == (["ALL"], ["no-new-privileges:true"])
    # This machine alone, unless somebody says otherwise.
    assert service["env_file"] == [{"path": ".env", "required": False}]
    assert service["ports"] == ["${PUBLISH:-127.0.0.1:8000}:8000"]
    assert image_environment()["DATA_DIR"] in {volume.partition(":")[2] for volume in service["volumes"]}
    assert set(service["deploy"]["resources"]["limits"]) == {"cpus", "memory", "pids"}
    module = service["command"][service["command"].index("-m") + 1]
    assert (ROOT / f"{module.replace('.', '/')}.py").is_file()


def test_the_image_has_git_for_followed_sources() -> None:
    installed = next(one.text for one in dockerfile() if "apt-get install" in one.text)
    assert re.search(r"\bgit\b", installed)


@pytest.mark.parametrize("name", sorted(OURS))
def test_the_kept_checkpoint_outlives_each_process(name: str) -> None:
    """In memory, it would fall with the container; every service of ours signs or restores."""
    folder = SERVICES[name]["environment"]["CHECKPOINT_FILE"].rpartition("/")[0]
    volumes = {place: volume for volume, place in (entry.split(":") for entry in SERVICES[name]["volumes"])}
    assert volumes[folder] in compose_file()["volumes"]
    assert folder in next(one.text for one in dockerfile() if "install --directory" in one.text)


def test_only_nginx_can_be_reached_from_outside() -> None:
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["nginx"]
    assert not any("expose" in service for service in SERVICES.values())
    assert compose_file()["networks"]["data"] == {"internal": True}
    assert SERVICES["db"]["networks"] == SERVICES["redis"]["networks"] == ["data"]
    assert SERVICES["nginx"]["networks"] == ["edge"]
    assert {name for name, service in SERVICES.items() if "edge" in service["networks"]} == {
        "nginx",
        "web-agents",
        "web-studio",
    }


@each_service
def test_an_image_is_pinned_to_a_release(name: str) -> None:
    image = SERVICES[name]["image"]
    if name not in OURS:
        assert re.fullmatch(r"[\w./-]+:[\w.-]*\d[\w.-]*", image), image
    assert not image.endswith(":latest")


def test_our_base_image_is_pinned_to_a_release() -> None:
    (argument,) = [one.text for one in dockerfile() if one.name == "ARG"]
    assert re.fullmatch(r"PYTHON_IMAGE=python:3\.1[123]-slim-\w+", argument)
    assert {one.text.split()[0] for one in dockerfile() if one.name == "FROM"} == {"${PYTHON_IMAGE}"}


def test_every_service_of_ours_waits_for_the_tables() -> None:
    for name in OURS - ONE_SHOT:
        waits = SERVICES[name]["depends_on"]
        assert waits["migrate"] == {"condition": "service_completed_successfully"}, name
        assert waits["db"] == waits["redis"] == {"condition": "service_healthy"}, name


def test_no_password_has_a_default() -> None:
    given = variables()
    secrets = {name for name in given if re.search("PASSWORD|SECRET|KEY", name)}
    # What nobody need have, and nothing is open without.
    optional = {"EMBEDDER_API_KEY", "MODEL_API_KEY", "OIDC_CLIENT_SECRET", "SECRET_KEY_FALLBACKS", "SIGNING_KEY_FILE"}
    assert secrets - optional == {"POSTGRES_PASSWORD", "REDIS_PASSWORD", "SECRET_KEY"}
    assert all(given[name] is None for name in secrets - optional)
    assert not any(given[name] for name in optional)
    for service in SERVICES.values():
        for name, value in service.get("environment", {}).items():
            if re.search("PASSWORD|SECRET|AUTH$|_URL$", name):
                assert "${" in value, name


def test_every_variable_is_in_the_example_with_the_same_default() -> None:
    example = env_example()
    for name, default in variables().items():
        assert example[name] == (default or ""), name
    assert set(example) == set(variables())


def test_every_variable_is_explained() -> None:
    page = (ROOT / "docs" / "deploy.md").read_text("utf-8")
    assert not [name for name in variables() if f"`{name}`" not in page]


def test_what_is_required_is_what_the_secrets_command_writes() -> None:
    required = {name for name, default in variables().items() if default is None}
    assert required == set(values_for("https://studio.example.com"))
    text = (ROOT / ".env.example").read_text("utf-8")
    assert not re.search(r"^[A-Z_]+=$", fill_template(text, values_for("https://studio.example.com")), re.MULTILINE)


@each_service
def test_a_service_of_ours_gets_settings_that_exist(name: str) -> None:
    if name in OURS:
        assert set(SERVICES[name]["environment"]) <= set(VARIABLES)


def test_every_setting_reaches_a_container() -> None:
    own = {
        **dict.fromkeys(("DATA_DIR", "STATIC_DIR", "HOST", "PORT"), "the image's"),
        "DEBUG": "for developers, who use the checkout",
        "WEB_THREADS": "the commands say --threads",
    }
    rows = {setting.variable for setting in SETTINGS.values()}
    for name in OURS:
        assert rows - set(SERVICES[name]["environment"]) == set(own)
    assert set(own) - {"DEBUG", "WEB_THREADS"} <= set(image_environment())


def test_the_image_sets_nothing_that_is_no_setting() -> None:
    others = {"PATH", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "DJANGO_SETTINGS_MODULE"}
    assert set(image_environment()) <= set(VARIABLES) | others | set(MALLOC)
    # Of its workers too, which are not started by `serve`.
    assert MALLOC.items() <= image_environment().items()


def test_the_image_runs_as_nobody_in_particular() -> None:
    assert re.fullmatch(r"[1-9]\d{3,}:[1-9]\d{3,}", last("USER").text)
    uid, _, gid = last("USER").text.partition(":")
    for name in OURS:
        # /var/lib/studio is DATA_DIR, in memory.
        assert any(f"uid={uid},gid={gid}" in entry for entry in SERVICES[name]["tmpfs"])


def test_the_image_is_started_without_a_shell() -> None:
    assert last("CMD").text.startswith("[")
    assert last("STOPSIGNAL").text == "SIGTERM"
    assert "CMD [" in last("HEALTHCHECK").text
    assert not any(one.name == "ENTRYPOINT" for one in dockerfile())


def test_requirements_are_installed_by_their_hashes() -> None:
    (install,) = [one.text for one in dockerfile() if "pip install" in one.text]
    assert "--require-hashes" in install
    assert "--no-deps" in install
    assert not re.search(r"https?://|index-url", install)


def test_what_is_copied_exists() -> None:
    for one in dockerfile():
        if one.name == "COPY" and "--from" not in one.text:
            assert (ROOT / one.words[0]).exists()
            assert not is_ignored(one.words[0])


@pytest.mark.parametrize(
    "name",
    [
        ".git/config",
        ".data/studio.sqlite3",
        ".venv/bin/python",
        ".env",
        ".env.example",
        "deploy/tls/privkey.pem",
        "somewhere/privkey.pem",
        "staticfiles/a.js",
        "a/b/__pycache__/c.pyc",
        "conftest.py",
        "tests/servers.py",
        "features/sources/tests/test_source_sync.py",
    ],
)
def test_an_image_never_holds(name: str) -> None:
    assert is_ignored(name)


@pytest.mark.parametrize(
    "name",
    [
        "manage.py",
        "pyproject.toml",
        "requirements.lock",
        "requirements-extras.lock",
        "registry/models/__init__.py",
        "deploy/probe.py",
        "LICENSE",
        "schemas/README.md",
    ],
)
def test_an_image_holds(name: str) -> None:
    assert name in set(build_context())


def test_no_secret_is_in_what_is_built() -> None:
    assert not [name for name in build_context() if re.search(r"\.(pem|key|env|sqlite3)$", name)]


def test_a_written_env_is_not_committed() -> None:
    assert {".env", "deploy/tls/", "deploy/nginx/edge.conf"} <= set((ROOT / ".gitignore").read_text().splitlines())


def test_nginx_takes_bodies_as_large_as_the_product_does() -> None:
    from django.conf import settings

    routes = (ROOT / "deploy/nginx/parts/routes.conf").read_text("utf-8")
    limits = [int(size) * 2**20 for size in re.findall(r"client_max_body_size (\d+)m;", routes)]
    assert limits[0] > ARCHIVE_BYTES_MAX
    assert min(limits) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    for limit in limits:
        assert limit < 2 * ARCHIVE_BYTES_MAX
    blocks = dict(re.findall(r"^location (.+?) \{\n(.+?)^\}", routes, re.MULTILINE | re.DOTALL))
    sizes = {
        path: int(size[1]) * 2**20 if (size := re.search(r"client_max_body_size (\d+)m;", block)) else 0
        for path, block in blocks.items()
        if "proxy_pass http://agents;" in block and "healthz" not in path
    }
    assert len(sizes) == 5
    assert all(sizes.values()), "an address of agents takes as much as an archive has"
    assert sizes["^~ /clawhub/api/v1/uploads/"] > CONTENT_BYTES_MAX


def test_scripts_of_the_deployment_can_be_started() -> None:
    for path in (ROOT / "deploy").rglob("*"):
        if path.is_file() and path.read_bytes()[:2] == b"#!":
            assert path.stat().st_mode & stat.S_IXUSR, path


def test_a_process_that_was_started_again_is_used_at_once() -> None:
    """With nginx's own max_fails=1 two processes restarted after each other were 502 for up to 10 s."""
    upstreams = (ROOT / "deploy/nginx/parts/upstreams.conf").read_text("utf-8")
    servers = re.findall(r"^ *server (.+);$", upstreams, re.MULTILINE)
    assert len(servers) == 2
    assert all("max_fails=0" in server for server in servers)


def test_the_access_log_has_no_token() -> None:
    shared = (ROOT / "deploy/nginx/parts/shared.conf").read_text("utf-8")
    for prefix in ("share", "welcome"):
        assert re.search(rf"^ *~\^/{prefix}/ /{prefix}/\.\.\.;$", shared, re.MULTILINE), prefix


def test_nginx_bounds_how_often_an_address_sends_a_password() -> None:
    shared = (ROOT / "deploy/nginx/parts/shared.conf").read_text("utf-8")
    routes = (ROOT / "deploy/nginx/parts/routes.conf").read_text("utf-8")
    zone = re.search(r"^limit_req_zone \$signs_in zone=(\w+):", shared, re.MULTILINE)
    assert zone is not None
    location = re.search(
        r"^location ~ \^/\(\?:([\w|-]+)\)\(\?:/\|\$\) \{\n    limit_req zone=(\w+) ", routes, re.MULTILINE
    )
    assert location is not None
    assert location[2] == zone[1]
    assert {"sign-in", "welcome", "password"} == set(location[1].split("|"))
