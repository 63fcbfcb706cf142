"""What is found out before anything is set up. tests/system starts the real thing."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from studio.launcher.console import Refusal
from studio.launcher.serving import check_data_dir, check_port, server_environment, warn_of_open_directory
from tests.servers import ROOT, free_port


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_name_becomes_an_address(host: str) -> None:
    assert check_port(host, free_port()) == "127.0.0.1"


def test_a_taken_port_names_a_free_one() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        taken = server.getsockname()[1]
        with pytest.raises(Refusal, match=rf"Port {taken} on 127\.0\.0\.1 is taken") as caught:
            check_port("127.0.0.1", taken)
    other = int(str(caught.value).partition("PORT=")[2].split()[0])
    assert check_port("127.0.0.1", other) == "127.0.0.1"


@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::1"])
def test_an_address_of_another_machine_is_refused(host: str) -> None:
    with pytest.raises(Refusal, match=rf"HOST is '{host}', which is not an address of this machine") as caught:
        check_port(host, free_port())
    assert caught.value.exit_code == 2


def test_a_data_dir_is_made(tmp_path: Path) -> None:
    check_data_dir(tmp_path / "a" / "b")
    assert list((tmp_path / "a" / "b").iterdir()) == []


def test_an_unusable_data_dir_is_refused() -> None:
    with pytest.raises(Refusal, match=r"DATA_DIR is '/dev/null/x', which cannot be used \(Not a directory\)") as caught:
        check_data_dir(Path("/dev/null/x"))
    assert caught.value.exit_code == 2


def test_a_server_gives_memory_back_unless_its_operator_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MALLOC_ARENA_MAX", "8")
    monkeypatch.setenv("GRANIAN_WORKERS", "9")
    env = server_environment(ROOT)
    assert (env["MALLOC_MMAP_THRESHOLD_"], env["MALLOC_ARENA_MAX"]) == ("131072", "8")
    assert (env["PYTHONPATH"], "GRANIAN_WORKERS" in env) == (str(ROOT), False)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_an_open_data_dir_is_said_in_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = tmp_path / "made"
    check_data_dir(made)
    warn_of_open_directory(made)
    assert capsys.readouterr().err == ""
    made.chmod(0o755)
    warn_of_open_directory(made)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("Warning: DATA_DIR ")
