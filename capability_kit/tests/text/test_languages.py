"""Languages by their tags, and which one a text seems to be in."""

from __future__ import annotations

import pytest
import snowballstemmer  # type: ignore[import-untyped]

from capability_kit.text.languages import ALGORITHMS, detect_language, get_stemmed_language, is_known_language


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Prüft Rechnungen und sagt, was daran nicht stimmt."),
        ("es", "Gestiona las devoluciones de los clientes y su factura."),
        ("fr", "Gère les factures et les remboursements des clients."),
        ("it", "Gestisce le fatture e i rimborsi di un cliente."),
        ("pt", "Gerencia as faturas e não envia nada para o cliente."),
        ("nl", "Beheert facturen van klanten en het retourneren."),
        ("pl", "Sprawdza faktury i mówi, co jest nie tak."),
        ("tr", "Faturaları kontrol eder ve müşteri için bir özet yazar."),
        ("sv", "Kontrollerar fakturor och säger att det är fel."),
        ("ru", "Проверяет счета и говорит, что не так."),
        ("", "Перевіряє рахунки і каже, що не так."),
        ("ar", "تدقيق فواتير العملاء"),
        ("fa", "بررسی فاکتورهای مشتری و گزارش"),
        ("el", "Ελέγχει τα τιμολόγια."),
        ("", "处理客户的退款。"),
        ("", "Handles refunds and cancellations for a customer."),
        ("", "Logs the weight in kg on a scale, via the app, in Rio de Janeiro or in La Paz."),
        ("", "How do I make tuna salad? How do I make an omelette?"),
        ("pl", "Do kiedy i co mam zrobić, bo nie wiem, jak."),
        ("", "SaaS, CRM: café à la carte"),
        ("", ""),
    ],
)
def test_language_of_a_text(language: str, text: str) -> None:
    assert detect_language(text) == language


def test_declared_language_comes_before_that_of_the_texts() -> None:
    texts = ["Prüft Rechnungen und sagt, was daran nicht stimmt."]
    assert get_stemmed_language("", texts) == "de"
    assert get_stemmed_language("fr-CA", texts) == "fr"
    assert get_stemmed_language("en", texts) == get_stemmed_language("zh-Hans", texts) == ""


def test_every_algorithm_is_there() -> None:
    assert set(ALGORITHMS.values()) <= set(snowballstemmer.algorithms())


def test_names_of_programming_languages_are_not_known() -> None:
    assert is_known_language("de-AT")
    assert is_known_language("zh-Hans")
    assert not any(map(is_known_language, ("go", "js", "sql", "php", "")))
