"""The command line, run in this process as `manage.py` runs it."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from typing import Any

import pytest
from django.core.management import ManagementUtility


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Standard output as the one JSON document that it is."""
        return json.loads(self.out)


class Manage:
    """`manage("bundle", "list")`."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys, self._monkeypatch = capsys, monkeypatch
        # A command closes what it opened; here that is the test's own transaction.
        monkeypatch.setattr("django.core.management.base.connections.close_all", lambda: None)

    def __call__(self, *arguments: str, stdin: str = "") -> Done:
        self._monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        code = 0
        try:
            ManagementUtility(["manage.py", *arguments]).execute()
        except SystemExit as end:
            code = int(end.code or 0)
        printed = self._capsys.readouterr()
        return Done(code, printed.out, printed.err)


@pytest.fixture
def manage(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Manage:
    return Manage(capsys, monkeypatch)
