"""While the database is away, the log says so and does not grow by a line for each request."""

from __future__ import annotations

import io
import logging
import sqlite3
from collections.abc import Iterator

import pytest
from django.db import OperationalError

from studio.config import outage_lines
from studio.config.logging import logging_settings
from studio.config.outage_lines import OutageLines

Log = tuple[logging.Logger, io.StringIO]


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1000.0]
    monkeypatch.setattr("studio.config.outage_lines.time.monotonic", lambda: now[0])
    return now


@pytest.fixture
def log(now: list[float]) -> Iterator[Log]:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(OutageLines())
    logger = logging.getLogger("outage-test")
    logger.addHandler(handler)
    logger.propagate = False
    yield logger, stream
    logger.removeHandler(handler)


def test_one_line_in_ten_seconds_says_how_many_were_left_out(log: Log, now: list[float]) -> None:
    logger, stream = log
    for _ in range(1000):
        logger.warning("a request could not be answered. %s", "Away", extra={"outage": "away"})
    now[0] += outage_lines.SECONDS
    logger.warning("a request could not be answered. %s", "Away", extra={"outage": "away"})
    assert stream.getvalue().splitlines() == [
        "a request could not be answered. Away",
        "a request could not be answered. Away (999 more such lines were left out)",
    ]


def test_another_outage_has_lines_of_its_own(log: Log) -> None:
    logger, stream = log
    for _ in range(3):
        for outage in ("away", "full"):
            logger.warning("%s", outage, extra={"outage": outage})
    assert stream.getvalue().split() == ["away", "full"]


@pytest.mark.parametrize("error", [OperationalError("away"), sqlite3.OperationalError("away")])
def test_a_traceback_of_the_database_is_such_a_line(log: Log, error: Exception) -> None:
    logger, stream = log
    for _ in range(5):
        logger.error("Service Unavailable", exc_info=error)
    assert stream.getvalue().count("Service Unavailable") == 1


def test_djangos_own_line_about_a_503_is_such_a_line(log: Log) -> None:
    logger, stream = log
    for number in range(5):
        logger.error("Service Unavailable: /%d", number, extra={"status_code": 503})
    assert stream.getvalue() == "Service Unavailable: /0\n"


def test_every_other_line_is_written(log: Log) -> None:
    """A failure is found by its request's id."""
    logger, stream = log
    for _ in range(5):
        logger.error("a request failed", exc_info=ValueError("x"))
        logger.warning("a key is damaged")
    assert stream.getvalue().count("a request failed") == stream.getvalue().count("a key is damaged") == 5


def test_the_log_of_the_product_has_it() -> None:
    settings = logging_settings(log_format="text", access_log=False, debug=False)
    (name,) = settings["handlers"]["stderr"]["filters"]
    assert settings["filters"][name]["()"] is OutageLines
