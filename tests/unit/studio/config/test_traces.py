"""The settings of traces: where they go, what they need, and that nothing else is asked for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from studio.config.environment import ConfigurationError, StudioEnvironment, read_environment
from studio.launcher.virtualenv import EXTRAS_LOCK, RUNTIME_LOCK, choose_lock
from tests.servers import ROOT, studio_environment

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
COLLECTOR = "http://127.0.0.1:4318"


def _read(**variables: str) -> StudioEnvironment:
    return read_environment(variables, base_dir=ROOT)


def test_a_collector_is_an_absolute_url() -> None:
    assert _read().traces_url is None
    assert _read(**{ENDPOINT: COLLECTOR}).traces_url == COLLECTOR
    assert _read(OTEL_EXPORTER_OTLP_TRACES_ENDPOINT="https://c.example/v1/traces").traces_own_url
    for odd in ("collector:4317", "grpc://collector", "http://", "https://u:hush-hush@c.example/?x=1", "http://[::1"):
        with pytest.raises(ConfigurationError, match="expected an http or https URL") as found:
            _read(**{ENDPOINT: odd})
        assert "hush-hush" not in str(found.value)


def test_another_protocol_is_refused_with_the_fix() -> None:
    with pytest.raises(ConfigurationError, match="is 'grpc': traces are sent as http/protobuf"):
        _read(**{ENDPOINT: COLLECTOR, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"})
    assert _read(**{ENDPOINT: COLLECTOR, "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}).traces_url
    # Without a collector of ours it is the concern of other programs.
    _read(OTEL_EXPORTER_OTLP_PROTOCOL="grpc")


def test_variables_of_the_sdk_are_taken_for_no_misspelling() -> None:
    assert _read(OTEL_EXPORTER_OTLP_METRICS_ENDPOINT="x", OTEL_EXPORTER_OTLP_HEADERS="a=b").warnings == ()


def test_run_py_installs_what_it_needs() -> None:
    oidc = {"OIDC_ISSUER": "https://login.example.com", "OIDC_CLIENT_ID": "a", "OIDC_ROLES": "a=admin"}
    assert choose_lock(_read()) == RUNTIME_LOCK
    oauth = {"OAUTH_ISSUER": "https://login.example.com", "OAUTH_DOMAINS": "example.com"}
    for needed in (oidc, oauth, {ENDPOINT: COLLECTOR}, {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": COLLECTOR}):
        assert choose_lock(_read(**needed)) == EXTRAS_LOCK


_STARTS = """
import importlib.util, sys
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "opentelemetry" else find(name, *rest)
try:
    from studio import settings
except Exception as error:
    sys.exit(f"{type(error).__name__}: {error}")
print(settings.IS_TRACED)
"""


def test_without_its_packages_the_start_says_how_to_install_them(tmp_path: Path) -> None:
    def start(**settings: str) -> subprocess.CompletedProcess[str]:
        env = studio_environment(tmp_path, **settings)
        return subprocess.run([sys.executable, "-c", _STARTS], env=env, capture_output=True, text=True, check=False)

    refused = start(**{ENDPOINT: COLLECTOR})
    assert refused.returncode == 1
    assert "pip install --require-hashes --no-deps -r requirements-extras.lock" in refused.stderr
    for off in (
        {},
        {ENDPOINT: COLLECTOR, "OTEL_SDK_DISABLED": "true"},
        {ENDPOINT: COLLECTOR, "OTEL_TRACES_EXPORTER": "none", "OTEL_METRICS_EXPORTER": "none"},
    ):
        assert start(**off).stdout == "False\n"
