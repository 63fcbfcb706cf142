"""Capabilities in a language that the sentence model does not read."""

from __future__ import annotations

from typing import Any

import pytest

from registry.matching.embedders import get_embedder
from registry.matching.readability import describe_languages
from registry.publishing import publication
from tests.factories import OLGA, bundle

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("embedder", "description", "is_warned", "languages"),
    [
        pytest.param("multilingual", "पैसे वापस करने के लिए।", True, "Arabic, Chinese, ", marks=pytest.mark.slow),
        pytest.param("multilingual", "处理客户的退款。", False, "Arabic, Chinese, ", marks=pytest.mark.slow),
        ("minilm", "处理客户的退款。", True, "English"),
        ("minilm", "Für Kunden, die ihr Geld zurück haben möchten.", True, "English"),
        ("minilm", "Refunds of what a customer paid for.", False, "English"),
        ("none", "पैसे वापस करने के लिए।", False, "none: words alone are compared"),
    ],
)
def test_the_publish_page_warns_where_the_model_does_not_read_the_language(
    settings: Any, embedder: str, description: str, is_warned: bool, languages: str
) -> None:
    settings.EMBEDDER = embedder
    get_embedder.cache_clear()
    outcome = publication.publish(files=bundle("refund", description=description), by=OLGA, dry_run=True)
    found = [finding for finding in outcome.findings if finding.code == "LANGUAGE_NOT_READ"]
    assert [(each.severity, each.pointer) for each in found] == [("warning", "/description")] * is_warned
    assert describe_languages().startswith(languages)


@pytest.mark.parametrize(
    ("embedder", "language", "description", "is_warned"),
    [
        # Danish without a letter that tells it from German.
        ("multilingual", "da", "Betaler kunden pengene tilbage.", True),
        ("multilingual", "", "Betaler kunden pengene tilbage.", False),
        ("multilingual", "zh-Hant-TW", "處理客戶的退款。", False),
        ("multilingual", "tlh", "Refunds of what a customer paid for.", False),
        ("minilm", "de", "Refund-Tool.", True),
        ("minilm", "en-GB", "Für Kunden, die ihr Geld zurück haben möchten.", False),
        ("none", "da", "Betaler kunden pengene tilbage.", False),
    ],
)
def test_declared_language_decides_whether_the_model_reads_it(
    settings: Any, embedder: str, language: str, description: str, is_warned: bool
) -> None:
    settings.EMBEDDER = embedder
    get_embedder.cache_clear()
    facts: dict[str, Any] = {"description": description} | ({"language": language} if language else {})
    outcome = publication.publish(files=bundle("refund", **facts), by=OLGA, dry_run=True)
    assert [each.code for each in outcome.findings].count("LANGUAGE_NOT_READ") == is_warned
