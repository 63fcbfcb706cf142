"""A sentence of a user into a capability: as a trigger, or as an example message that must or must not lead there."""

from __future__ import annotations

from typing import Any, Final, Literal

from capability_kit.json_text import parse_json
from capability_rules.bundles.json_edits import add_item, add_key, apply_edits
from capability_rules.errors import InvalidRequest
from registry.catalog import drafts
from registry.catalog.drafts import SavedDraft
from registry.common.actors import Actor
from registry.common.errors import CapabilityNotFound
from registry.core import audit
from registry.core.transactions import write_transaction
from registry.models import Capability

UtteranceList = Literal["intent_triggers", "should_match", "should_not_match"]
UTTERANCE_LISTS: Final[tuple[UtteranceList, ...]] = ("intent_triggers", "should_match", "should_not_match")
# schemas/capability.schema.json says the same; what is longer would be a finding that no author caused.
LENGTH_MAX: Final[dict[UtteranceList, int]] = {"intent_triggers": 80, "should_match": 500, "should_not_match": 500}


def add_utterance(*, capability_id: str, sentence: str, place: UtteranceList, by: Actor) -> SavedDraft | None:
    """Put a sentence into the draft of a capability, or into a new one of what is published; the rest of the text stays
    as it was written. None where it is there already.

    Raises `CapabilityNotFound`, and `InvalidRequest` for an invalid sentence or a text that has to be fixed first.
    """
    text = " ".join(sentence.replace("\0", " ").split())
    if not text or len(text) > LENGTH_MAX[place]:
        raise InvalidRequest(f"A sentence has 1 to {LENGTH_MAX[place]} characters here")
    with write_transaction():
        capability = Capability.objects.filter(capability_id=capability_id).first()
        if capability is None:
            raise CapabilityNotFound(capability_id)
        files, version = drafts.editable_files(capability)
        changed = _with_sentence(files.get("capability.json", ""), text, place)
        if changed is None:
            return None
        texts = {**files, "capability.json": changed}
        saved = drafts.save_draft(capability_id=capability_id, files=texts, based_on=version, by=by)
        detail = {"place": place, "draft_version": saved.version}
        audit.record(by=by, verb="draft.add_sentence", subject=capability_id, detail=detail)
    return saved


def _with_sentence(text: str, sentence: str, place: UtteranceList) -> str | None:
    document = parse_json(text)
    if not isinstance(document, dict):
        raise InvalidRequest("capability.json cannot be read: fix its findings in the editor first")
    if place == "intent_triggers":
        return _added(text, document, (), place, sentence)
    utterances = document.get("utterances")
    if utterances is None and "utterances" not in document:
        return apply_edits(text, [add_key(text, (), "utterances", {place: [sentence]})])
    if not isinstance(utterances, dict):
        raise InvalidRequest("'utterances' is not an object: fix it in the editor first")
    return _added(text, utterances, ("utterances",), place, sentence)


def _added(text: str, holder: dict[str, Any], path: tuple[str, ...], name: str, sentence: str) -> str | None:
    listed = holder.get(name)
    if name not in holder:
        return apply_edits(text, [add_key(text, path, name, [sentence])])
    if not isinstance(listed, list):
        raise InvalidRequest(f"'{name}' is not a list: fix it in the editor first")
    if any(isinstance(each, str) and each.casefold() == sentence.casefold() for each in listed):
        return None
    return apply_edits(text, [add_item(text, (*path, name), sentence)])
