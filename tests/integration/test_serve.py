"""`manage.py serve` refuses with a sentence what it cannot do."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.servers import run_manage, studio_environment

pytestmark = pytest.mark.slow


def test_a_taken_port_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(1)
        env = studio_environment(tmp_path, PORT=str(taken.getsockname()[1]))
        run_manage("prepare_site", env=env)
        done = run_manage("serve", env=env, check=False)
    assert done.returncode == 1
    assert f"Port {env['PORT']} on 127.0.0.1 is taken by another program" in done.stderr
    assert "Traceback" not in done.stderr
