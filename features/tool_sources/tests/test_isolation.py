import json

import pytest

from capability_rules.errors import SourceUnreadable
from features.tool_sources.isolation import read_tools_isolated
from features.tool_sources.source_tools import read_tools
from features.tool_sources.tests.openapi_documents import posting


def test_document_read_in_a_process_is_what_is_read_here() -> None:
    content = json.dumps(posting({"properties": {"a-b": {"maximum": 2**63}}})).encode()
    assert read_tools_isolated(content) == read_tools(content)


def test_document_that_is_too_large_starts_no_process() -> None:
    with pytest.raises(SourceUnreadable, match="at most 10,000,000"):
        read_tools_isolated(b" " * 11_000_000)


def test_document_that_takes_too_long_is_refused_with_the_number() -> None:
    with pytest.raises(SourceUnreadable, match="more than 1 s of work"):
        read_tools_isolated(b"a: " + b"[1, " * 2_000_000, seconds_max=1)
