"""A server on loopback, and a certificate for it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.receivers import Receiver


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    yield receiver
    receiver.stop()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """For hooks.example.com alone, signed by itself."""
    folder = tmp_path_factory.mktemp("tls")
    cert, key = folder / "cert.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-keyout", str(key), "-out", str(cert), "-days", "2", "-subj", "/CN=hooks.example.com"]
    try:
        subprocess.run(
            [*command, "-addext", "subjectAltName=DNS:hooks.example.com"], check=True, capture_output=True, text=True
        )
    except FileNotFoundError:
        pytest.skip("needs openssl: apt install openssl")
    return cert, key
