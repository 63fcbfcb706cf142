"""The catalog of what a runtime says to people."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator

import pytest

from capability_client.session.introduction import greeting
from capability_client.session.options import User
from capability_client.session.replies import TOO_MANY_STEPS
from capability_kit import errors, sentences
from capability_kit.sentences import SentenceCatalog, say, set_sentences, shipped_catalogs, speaking
from capability_kit.ui.ask import ReplyNotUnderstood, ask

LANGUAGES = ["de", "es", "fr", "ja", "zh"]


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    yield
    set_sentences("en")


def _said(of: type[errors.RegistryError]) -> set[str]:
    return {of.said}.union(*(_said(each) for each in of.__subclasses__()))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_shipped_catalog_has_every_sentence_with_its_places(language: str) -> None:
    catalog = shipped_catalogs()[language]
    wanted = {*_said(errors.RegistryError), TOO_MANY_STEPS, "Yes", "No", "Continue"}
    assert wanted <= catalog.sentences.keys()
    assert catalog.sentences.keys() == shipped_catalogs()["de"].sentences.keys()
    for english, translated in catalog.sentences.items():
        assert sorted(re.findall(r"{\w+}", english)) == sorted(re.findall(r"{\w+}", translated)), english
    assert not catalog.yes & catalog.no


@pytest.mark.parametrize(
    ("language", "yes", "no"),
    [("de", "Ja.", "nein"), ("fr", "oui", "Non"), ("zh", "是", "不"), ("ja", "はい。", "いいえ")],
)
def test_yes_is_what_the_catalog_says(language: str, yes: str, no: str) -> None:
    question = ask("Delete it?")
    with pytest.raises(ReplyNotUnderstood):
        question.read(yes)
    with speaking(language):
        assert (question.read(yes), question.read(no)) == (True, False)
        with pytest.raises(ReplyNotUnderstood):
            question.read("yes")
    assert question.read("yeah") is True


def test_sentences_are_said_in_the_language_that_is_set() -> None:
    set_sentences("de")
    assert greeting(User(name="Ada")) == "Hallo Ada, schön, Sie zu sehen. Wobei kann ich helfen?"
    missing = errors.CapabilityNotFound("", capability_id="sleep", data={"available_capabilities": ["meals"]})
    assert missing.user_message().startswith("Eine Fähigkeit für")
    assert ask("Sicher?").plain() == "Sicher? (ja/nein)"
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.append(say("Continue")))
    thread.start()
    thread.join()
    assert found == ["Weiter"]
    with speaking("fr"):
        assert say("Continue") == "Continuer"
    assert say("Continue") == "Weiter"


def test_an_application_brings_its_own_catalog() -> None:
    own = SentenceCatalog(
        "sv", {"Yes": "Ja", "{question} (yes/no)": "{question} (ja/nej)"}, frozenset({"ja"}), frozenset({"nej"})
    )
    with speaking(own):
        assert ask("Säker?").plain() == "Säker? (ja/nej)"
        assert ask("Säker?").read("nej") is False
        # What it lacks is said in English.
        assert say("Continue") == "Continue"
    with pytest.raises(ValueError, match="de, en, es, fr, ja, zh"):
        sentences.set_sentences("xx")
