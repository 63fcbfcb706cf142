"""A forked command is to its script what a fresh process is."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.commands import ROOT, run_script
from tests.servers import studio_environment

# What a program can tell about the process it runs in.
_TELL = """
import gc, json, os, resource, signal, sys, threading, time
from django.conf import settings

umask = os.umask(0)
os.umask(umask)
print(json.dumps({
    "argv": sys.argv,
    "name": __name__,
    "file": __file__,
    "path": sys.path,
    "cwd": os.getcwd(),
    "environment": dict(os.environ),
    "umask": umask,
    "time zone": time.strftime("%Z", time.localtime(0)),
    "read": sys.stdin.read(),
    "streams": [
        (stream.fileno(), stream.isatty(), stream.encoding, stream.errors, stream.line_buffering)
        for stream in (sys.stdin, sys.stdout, sys.stderr)
    ],
    "open": sorted(fd for fd in range(256) if os.path.exists(f"/proc/self/fd/{fd}")),
    "signals": [(str(one), str(signal.getsignal(one)).split(" at ")[0]) for one in sorted(signal.valid_signals())],
    "blocked": list(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
    "group": (os.getpgrp(), os.getsid(0), os.geteuid()),
    "limits": [resource.getrlimit(one) for one in range(9)],
    "flags": str(sys.flags),
    "executable": sys.executable,
    "threads": threading.active_count(),
    "collector": (gc.isenabled(), gc.get_threshold()),
    "settings are read": settings.configured,
}))
print("one word", file=sys.stderr)
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    return tmp_path / "program.py"


def run_both(
    script: Path, *arguments: str, env: dict[str, str], **more: Any
) -> Iterator[subprocess.CompletedProcess[str]]:
    for fresh in (False, True):
        yield run_script(script, *arguments, env=env, fresh=fresh, **more)


def test_a_forked_command_finds_what_a_fresh_process_finds(script: Path, tmp_path: Path) -> None:
    script.write_text(_TELL)
    env = {**studio_environment(tmp_path, PORT="8001"), "SAID": "é\nhere", "TZ": "Asia/Tokyo"}
    # The server is there, and has our umask, before the other umask is set.
    assert run_script(script, env=env, text="").returncode == 0
    before = os.umask(0o027)
    try:
        forked, fresh = run_both(script, "one", "two words", "", env=env, cwd=tmp_path, text="line 1\nlinja é")
    finally:
        os.umask(before)
    told = json.loads(forked.stdout)
    assert told == json.loads(fresh.stdout)
    assert (told["umask"], told["cwd"], told["read"]) == (0o027, str(tmp_path), "line 1\nlinja é")
    assert told["environment"] == env
    assert (forked.args, forked.stderr, forked.returncode) == (fresh.args, fresh.stderr, 0)


@pytest.mark.parametrize(
    ("end", "code"),
    [
        ("pass", 0),
        ("raise SystemExit(3)", 3),
        ("raise SystemExit('a sentence')", 1),
        ("1 / 0", 1),
        ("import os; os._exit(7)", 7),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -9),
        ("import atexit; atexit.register(print, 'at the end')", 0),
        ("import threading, time; threading.Thread(target=lambda: (time.sleep(0.2), print('last'))).start()", 0),
        ("import subprocess, sys; raise SystemExit(subprocess.call([sys.executable, '-c', 'exit(5)']))", 5),
    ],
)
def test_a_forked_command_ends_as_a_fresh_process_does(script: Path, tmp_path: Path, end: str, code: int) -> None:
    script.write_text(f"print('begun')\n{end}\n")
    forked, fresh = run_both(script, env=studio_environment(tmp_path))
    assert (forked.returncode, forked.stdout) == (fresh.returncode, fresh.stdout)
    assert forked.returncode == code
    # Frames of the fork server stand in a traceback.
    assert forked.stderr.splitlines()[-1:] == fresh.stderr.splitlines()[-1:]


def test_commands_are_forked_side_by_side_and_one_that_hangs_is_killed(script: Path, tmp_path: Path) -> None:
    script.write_text("import os, sys, time; open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(60)")
    env = studio_environment(tmp_path)
    with pytest.raises(subprocess.TimeoutExpired):
        run_script(script, str(tmp_path / "pid"), env=env, timeout_seconds=2)
    pid = int((tmp_path / "pid").read_text())
    script.write_text("print('after')")
    assert run_script(script, env=env).stdout == "after\n"
    assert not Path(f"/proc/{pid}").exists()


def test_what_an_interpreter_reads_when_it_starts_gets_an_interpreter(script: Path, tmp_path: Path) -> None:
    script.write_text("import sys; print(sys.flags.optimize, sys.orig_argv[1:2])")
    env = {**studio_environment(tmp_path), "PYTHONOPTIMIZE": "1"}
    assert run_script(script, env=env).stdout == f"1 {[str(script)]}\n"


def test_a_command_of_the_product_reads_its_own_settings(tmp_path: Path) -> None:
    programs = {"SECOND_FACTOR_ROLES": "admin", "PUBLIC_URL": "https://studio.example"}
    program = "from django.conf import settings as s; print(s.DATA_DIR, s.PUBLIC_URL, s.SECOND_FACTOR_ROLES)"
    for folder, settings in (("a", {}), ("b", programs)):
        (tmp_path / folder).mkdir()
        env = studio_environment(tmp_path / folder, **settings)
        forked, fresh = run_both(ROOT / "manage.py", "shell", "-v", "0", "-c", program, env=env)
        assert (forked.stdout, forked.stderr) == (fresh.stdout, fresh.stderr)
        assert forked.stdout.startswith(str(tmp_path / folder))
