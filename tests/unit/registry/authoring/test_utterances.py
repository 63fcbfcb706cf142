"""A sentence of a user becomes a trigger or an example message of a draft."""

from __future__ import annotations

import json

import pytest

from capability_rules.errors import InvalidRequest
from registry.authoring import utterances
from registry.authoring.utterances import UTTERANCE_LISTS, UtteranceList
from registry.catalog import drafts
from registry.common.errors import CapabilityNotFound
from registry.models import AuditEvent, Capability
from tests.factories import OLGA, publish

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("place", UTTERANCE_LISTS)
def test_a_sentence_is_put_into_a_new_draft(place: UtteranceList) -> None:
    publish()
    saved = utterances.add_utterance(capability_id="alpha", sentence="  how did\n I sleep ", place=place, by=OLGA)
    assert saved is not None
    document = json.loads(drafts.get_draft("alpha").files["capability.json"])
    holder = document if place == "intent_triggers" else document["utterances"]
    assert holder[place][-1] == "how did I sleep"
    assert saved.report.errors == ()
    event = AuditEvent.objects.latest("id")
    assert (event.verb, event.detail) == ("draft.add_sentence", {"place": place, "draft_version": 1})


def test_the_rest_of_the_text_stays_as_it_was_written() -> None:
    text = '{ "capability_id":"odd",\n\t"name": "Odd",   "utterances": {"should_match":["a"]} }'
    drafts.save_draft(capability_id="odd", files={"capability.json": text}, based_on=None, by=OLGA)
    utterances.add_utterance(capability_id="odd", sentence="b", place="should_match", by=OLGA)
    assert drafts.get_draft("odd").files["capability.json"] == text.replace('["a"]', '["a", "b"]')


def test_what_stands_there_already_is_not_written_twice() -> None:
    publish(intent_triggers=["Weigh-in"])
    assert (
        utterances.add_utterance(capability_id="alpha", sentence="weigh-IN", place="intent_triggers", by=OLGA) is None
    )
    assert not Capability.objects.get().drafts.exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "cannot be read"),
        ("[]", "cannot be read"),
        ('{"utterances": []}', "not an object"),
        ('{"utterances": null}', "not an object"),
        ('{"utterances": {"should_match": "x"}}', "not a list"),
    ],
)
def test_a_text_that_is_odd_is_mended_first(text: str, words: str) -> None:
    drafts.save_draft(capability_id="odd", files={"capability.json": text}, based_on=None, by=OLGA)
    with pytest.raises(InvalidRequest, match=words):
        utterances.add_utterance(capability_id="odd", sentence="b", place="should_match", by=OLGA)
    assert drafts.get_draft("odd").files["capability.json"] == text


@pytest.mark.both_databases
@pytest.mark.parametrize("sentence", ["", " \n", "\0", "x" * 81])
def test_an_odd_sentence_is_refused(sentence: str) -> None:
    publish()
    with pytest.raises(InvalidRequest):
        utterances.add_utterance(capability_id="alpha", sentence=sentence, place="intent_triggers", by=OLGA)
    with pytest.raises(CapabilityNotFound):
        utterances.add_utterance(capability_id="nobody", sentence="a", place="intent_triggers", by=OLGA)
