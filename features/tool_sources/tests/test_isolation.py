import json
from collections.abc import Iterator
from typing import Any

import pytest

from capability_rules.errors import SourceUnreadable
from capability_rules.validation.isolation.pool import CheckEnded, CheckPool, ChecksUnfinished, use_processes
from features.tool_sources import isolation
from features.tool_sources.isolation import answer_request, read_tools_isolated
from features.tool_sources.source_tools import read_tools
from features.tool_sources.tests.openapi_documents import posting


@pytest.fixture
def processes() -> Iterator[None]:
    use_processes(1)
    yield
    use_processes(0)


@pytest.mark.usefixtures("processes")
def test_document_read_in_a_process_is_what_is_read_here() -> None:
    content = json.dumps(posting({"properties": {"a-b": {"maximum": 2**63}, "größe": {}}}), ensure_ascii=False).encode()
    assert read_tools_isolated(content) == read_tools(content)


@pytest.mark.usefixtures("processes")
def test_document_that_takes_too_long_is_refused_with_the_number() -> None:
    with pytest.raises(SourceUnreadable, match="more than 1 s of work"):
        read_tools_isolated(b"a: " + b"[1, " * 2_000_000, seconds_max=1)


def test_document_that_is_too_large_starts_no_process() -> None:
    with pytest.raises(SourceUnreadable, match="at most 10,000,000"):
        read_tools_isolated(b" " * 11_000_000)


def test_tools_that_come_to_too_much_are_refused_in_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    content = json.dumps(posting({"properties": {"name": {}}}))
    request = {"content": content, "cpu_seconds": 5}
    assert set(answer_request(request, None)) > {"tools", "title"}
    monkeypatch.setattr(isolation, "ANSWER_BYTES_MAX", 100)
    assert set(answer_request(request, None)) == {"error"}


@pytest.mark.usefixtures("processes")
def test_document_for_which_there_was_no_time_is_not_said_to_be_unreadable(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: Any) -> Any:
        raise CheckEnded

    monkeypatch.setattr(CheckPool, "run", run)
    with pytest.raises(ChecksUnfinished):
        read_tools_isolated(b"{}")
