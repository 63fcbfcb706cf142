"""A process that has imported what commands import, and forks a child for each; `tests/commands.py` asks it.

It reads no setting, opens no database and starts no thread before it forks: each child reads the settings of its own
environment, as a fresh process does.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any, Final

from capability_rules.numeric_threads import SINGLE_THREAD

# Found by CPU time: what a command imports, without modules that read settings when they are imported (models, views).
# One that begins to read them ends the server with Django's sentence.
MODULES: Final = (
    "asyncio",
    "argon2",
    "cryptography.hazmat.primitives.asymmetric.ed25519",
    "cryptography.hazmat.primitives.serialization",
    "csp.models",
    "django.contrib.admin",
    "django.contrib.auth.apps",
    "django.contrib.auth.hashers",
    "django.contrib.auth.password_validation",
    "django.contrib.auth.tokens",
    "django.contrib.contenttypes.apps",
    "django.contrib.messages.apps",
    "django.contrib.sessions.backends.base",
    "django.contrib.staticfiles.apps",
    "django.contrib.staticfiles.management.commands.collectstatic",
    "django.core.management.commands.migrate",
    "django.core.management.commands.shell",
    "django.db.backends.sqlite3.base",
    "django.db.models.sql.compiler",
    "django.template.defaulttags",
    "django.template.loader_tags",
    "django.templatetags.i18n",
    "django.views.debug",
    "drf_spectacular.checks",
    "allauth.account.app_settings",
    "allauth.core.internal.ratelimit",
    "allauth.socialaccount.app_settings",
    "template_partials.apps",
    "whitenoise.base",
    "capability_kit.bundles.bundle",
    "capability_kit.signatures.statements",
    "capability_kit.text.denials",
    "capability_rules.agent_skills.importer",
    "capability_rules.bundles.description_phrases",
    "capability_rules.bundles.text_diff",
    "capability_rules.output.sarif",
    "capability_rules.semantic_diff",
    "capability_rules.validation.bundle_set",
    "capability_rules.validation.rules.json_schema",
    "registry.access.password_hashers",
    "registry.common.database_errors",
    "registry.core.jobs.celery_dispatch",
    "registry.core.kept_checkpoint",
    "registry.matching.findings",
    "studio.config.environment",
    "studio.config.logging",
    "studio.config.static_storage",
    "studio.launcher.manage",
)


def preload() -> None:
    """Import `MODULES`, and make sure that a fork copies no thread and no settings."""
    # A library would start a thread for each core, and a fork has none of them.
    os.environ |= SINGLE_THREAD
    for name in MODULES:
        importlib.import_module(name)
    from django.conf import settings

    threads = len(list(Path("/proc/self/task").iterdir()))
    if settings.configured or threads > 1:
        raise SystemExit(f"a command would inherit settings or threads: {settings.configured=}, {threads=}")
    # A collection in a child would copy every page that it looks at.
    gc.collect()
    gc.freeze()


def serve(control: socket.socket) -> list[int]:
    """Fork for each message on `control`; returns in the child, with its file descriptors.

    A message carries a socket and the standard streams of the command. The socket gives the request and takes the id of
    the process, then its exit code. Ends this process when nobody can ask any more.
    """
    wakeup, wakeup_end = os.pipe()
    os.set_blocking(wakeup_end, False)
    signal.set_wakeup_fd(wakeup_end)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    running: dict[int, int] = {}
    asked: list[Any] = [control, wakeup]
    while True:
        ready = select.select(asked, [], [])[0]
        if wakeup in ready:
            os.read(wakeup, 4096)
            _answer_ended(running)
        if control in ready:
            _, descriptors, _, _ = socket.recv_fds(control, 1, 4)
            if not descriptors:
                os._exit(0)
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                return descriptors
            running[pid] = descriptors[0]
            _tell(descriptors[0], pid)
            for descriptor in descriptors[1:]:
                os.close(descriptor)


def _answer_ended(running: dict[int, int]) -> None:
    for pid in list(running):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            _tell(running[pid], os.waitstatus_to_exitcode(status))
            os.close(running.pop(pid))


def _tell(descriptor: int, number: int) -> None:
    # A caller that was interrupted waits no more.
    with contextlib.suppress(BrokenPipeError):
        os.write(descriptor, f"{number}\n".encode())


def become(descriptors: list[int]) -> str:
    """Take over the environment, working directory, streams, umask and arguments of a request; returns its script."""
    with socket.socket(fileno=descriptors[0]) as connection, connection.makefile("rb") as stream:
        request: dict[str, Any] = json.loads(stream.read())
    for target, descriptor in enumerate(descriptors[1:]):
        os.dup2(descriptor, target)
    os.closerange(3, 4096)
    os.environ.clear()
    os.environ.update(request["env"])
    time.tzset()
    os.chdir(request["cwd"])
    os.umask(request["umask"])
    sys.argv = request["argv"]
    sys.path[0] = str(Path(sys.argv[0]).parent.resolve())
    return sys.argv[0]


if __name__ == "__main__":
    _control = socket.socket(fileno=int(sys.argv[1]))
    preload()
    # The interpreter then ends as that of any script.
    runpy.run_path(become(serve(_control)), run_name="__main__")
