"""The backend: connections that carry our time limits and do not wait for a server that says nothing."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator
from typing import Any, TypeVar

import psycopg
from django.db import Error
from django.db.backends.postgresql import base
from django.db.backends.utils import CursorWrapper

from registry.common.postgresql.circuit_breaker import CIRCUIT_BREAKER

Value = TypeVar("Value")


class BoundedConnection(psycopg.Connection[Any]):
    """Raises OperationalError, and is closed, where the server does not respond in time or is known to be down."""

    def wait(self, gen: Generator[Any, Any, Value], *args: Any, **kwargs: Any) -> Value:
        """psycopg calls this for whatever it has to wait for; it wakes `gen` ten times a second meanwhile."""
        try:
            return super().wait(self._bounded(gen), *args, **kwargs)
        except _GivenUp:
            # The query may still be running: this connection cannot be used for another one.
            self.pgconn.finish()
            raise

    def _bounded(self, gen: Generator[Any, Any, Value]) -> Generator[Any, Any, Value]:
        heard_at = time.monotonic()
        _check(heard_at)
        try:
            state = next(gen)
            while True:
                ready = yield state
                if ready:
                    heard_at = time.monotonic()
                else:
                    _check(heard_at)
                state = gen.send(ready)
        except StopIteration as ended:
            value: Value = ended.value
            return value


class _GivenUp(psycopg.OperationalError):
    """The server did not answer within the time that we wait for it."""


def _check(heard_at: float) -> None:
    if CIRCUIT_BREAKER.is_useless():
        raise _GivenUp("the database is away")
    seconds = CIRCUIT_BREAKER.silence_seconds()
    if seconds is not None and time.monotonic() - heard_at > seconds:
        raise _GivenUp(f"the database said nothing for {seconds:g} s")


class _Driver:
    """psycopg, as the backend uses it for connections and for its errors."""

    def __getattr__(self, name: str) -> Any:
        return getattr(psycopg, name)

    def connect(self, **parameters: Any) -> BoundedConnection:
        if CIRCUIT_BREAKER.is_useless():
            raise _GivenUp("the database is away")
        return BoundedConnection.connect(**parameters)


class _TranslatedClose:
    """Of a cursor: closing one that the server holds asks the server, and Django lets the driver's error through there,
    past everything that knows Django's."""

    def close(self) -> None:
        with self.db.wrap_database_errors:  # type: ignore[attr-defined] # a cursor's
            self.cursor.close()  # type: ignore[attr-defined]

    def __exit__(self, *_: object) -> None:
        # As Django's: an error in cleaning up would hide the one that led here.
        with contextlib.suppress(Error):
            self.close()


class _Cursor(_TranslatedClose, CursorWrapper):
    """The cursor of a connection that logs no statements."""


class _DebugCursor(_TranslatedClose, base.CursorDebugWrapper):
    """The cursor of a connection that logs its statements."""


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's own, over connections of ours."""

    Database = _Driver()  # type: ignore[assignment] # the module with one function replaced

    def make_cursor(self, cursor: Any) -> CursorWrapper:
        return _Cursor(cursor, self)

    def make_debug_cursor(self, cursor: Any) -> _DebugCursor:
        return _DebugCursor(cursor, self)

    def get_connection_params(self) -> dict[str, Any]:
        """With the server's time limits in front of the options that the operator gave, so that theirs win."""
        parameters: dict[str, Any] = super().get_connection_params()
        options = f"{CIRCUIT_BREAKER.server_options()} {parameters.get('options', '')}".strip()
        return {**parameters, "options": options} if options else parameters
