"""How log lines look: text for a terminal, or one JSON object per line for a log collector. Both go to stderr."""

from __future__ import annotations

import json
import logging
import re
import sys
from datetime import UTC, datetime
from typing import Any, Final

from registry.common.log_context import current_context
from studio.config.outage_lines import OutageLines
from studio.config.parsers import LogFormat

_SHOWN_IN_TEXT: Final = frozenset({"request_id", "job_id", "key", "operator"})
_HIDDEN: Final = "[hidden]"
# A net below the care that is taken elsewhere: a secret is never printed, whichever code passed it to a logger.
_SECRETS: Final = re.compile(
    r"cs[ko]_[\w-]{8,}"  # an agent key, an access token
    r"|SKILL-[A-Z0-9]{4}(?:-[A-Z0-9]{4}){2,3}"  # an install code
    r"|(?<=/share/)[\w-]{8,}"  # a share link's token
    r"|(?<=/welcome/)\d+/[\w-]{8,}"  # an invitation
    r"|(?<=://)[^\s/@:]*:[^\s/@]+(?=@)"  # user and password of an address
    r"|(?<=bearer )\S+"
    r"|(?<=cookie: )[^\n]+"
    r"|(?:(?<=\?)|(?<=&))[\w.-]*(?:code|token|key|password|secret|sessionid)=[^\s&]+",
    re.IGNORECASE,
)


def redact_secrets(text: str) -> str:
    """The text with keys, codes, passwords and cookies hidden."""
    return _SECRETS.sub(_HIDDEN, text)


class TextFormatter(logging.Formatter):
    """`TIME LEVEL LOGGER: MESSAGE request_id=...`, in local time; the traceback below."""

    def __init__(self) -> None:
        super().__init__("{asctime} {levelname} {name}: {message}", style="{")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (logging's name)
        line = super().formatMessage(record)
        return "".join(
            [line, *(f" {name}={value}" for name, value in current_context().items() if name in _SHOWN_IN_TEXT)]
        )

    def format(self, record: logging.LogRecord) -> str:
        return redact_secrets(super().format(record))


class JsonFormatter(logging.Formatter):
    """`{"time", "level", "logger", "message", "request_id"?, ..., "exception"?}`; the time is UTC, ISO 8601.

    What a caller passes as `extra={"fields": {...}}` is added to these.
    """

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": redact_secrets(record.getMessage()),
            **current_context(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = redact_secrets(self.formatException(record.exc_info))
        return json.dumps(line, ensure_ascii=False, default=str)


def logging_settings(*, log_format: LogFormat, access_log: bool, debug: bool) -> dict[str, Any]:
    """Return the value of Django's LOGGING setting."""
    formatter = JsonFormatter if log_format == "json" else TextFormatter
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"()": formatter}},
        "filters": {"outages": {"()": OutageLines}},
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": "line",
                "filters": ["outages"],
                "stream": sys.stderr,
            }
        },
        "root": {"handlers": ["stderr"], "level": "INFO" if debug else "WARNING"},
        "loggers": {
            # Django's own handlers would mail admins and print twice.
            "django": {"handlers": [], "propagate": True},
            # A 4xx is the answer that the caller gets; only what fails here is logged.
            "django.request": {"handlers": [], "level": "ERROR"},
            # One line a job, which is all that a worker says.
            "registry.core.jobs.queue": {"handlers": [], "level": "INFO"},
            # One line a request that Django answers.
            "studio.pages.permissions": {"handlers": [], "level": "INFO" if access_log else "WARNING"},
            # Under LOG_FORMAT=json Celery speaks through us, else in its own words.
            "celery": {"handlers": [], "level": "INFO"},
            # A stranger's Host header is not an incident.
            "django.security.DisallowedHost": {"handlers": [], "level": "CRITICAL"},
        },
    }
