"""`prompt_render`: what a model would read of these capabilities, by the very function that agents use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson

from agent_api.http import parameters
from agent_api.http.authentication import Caller
from agent_api.v1.skill_load import require_entry
from capability_kit.bundles.bundle import Bundle
from capability_kit.environment.probe import Environment
from capability_kit.environment.readiness import check_readiness
from capability_kit.prompt import NOTHING_ELSE, PromptContext, render_prompt
from capability_rules.errors import InvalidRequest
from capability_rules.validation.rules.json_schema import type_word
from registry.common import rate_limits
from registry.snapshot import Snapshot
from registry.snapshot.response_cache import get_load_response

IDS_MAX: Final = 20
ARGUMENTS_CHARACTERS_MAX: Final = 4_000


def prompt_response(
    snapshot: Snapshot, caller: Caller, values: Mapping[str, Any], extras: PromptContext = NOTHING_ELSE
) -> dict[str, Any]:
    """Build the response to `{"capability_ids", "environment"?, "arguments"?}` (schemas/api/prompt.schema.json).

    The first capability is the most important one: the budget goes to them in the order given. Without an environment
    everything counts as ready. Raises `InvalidRequest`, `RateLimited`, `CapabilityNotFound`, `SkillMalformed`,
    `RegistryUnavailable`.
    """
    wanted = _capability_ids(values)
    rate_limits.consume("uncached", caller.limit_subject, cost=len(wanted))
    environment = _environment(values)
    arguments = _arguments(values, wanted)
    bundles = [_bundle(snapshot, caller, capability_id) for capability_id in wanted]
    judged = {each.capability_id: check_readiness(each, environment) for each in bundles} if environment else {}
    return render_prompt(bundles, judged, arguments=arguments, extras=extras).as_dict()


def _bundle(snapshot: Snapshot, caller: Caller, capability_id: str) -> Bundle:
    entry = require_entry(snapshot, caller, capability_id)
    return Bundle.from_answer(orjson.loads(get_load_response(entry, snapshot.confidence(entry)).identity))


def _capability_ids(values: Mapping[str, Any]) -> list[str]:
    given = values.get("capability_ids")
    if not isinstance(given, list) or not 1 <= len(given) <= IDS_MAX:
        raise InvalidRequest(f"capability_ids must be an array of 1 to {IDS_MAX} ids")
    # The same one twice is one.
    return list(dict.fromkeys(parameters.capability_id({"capability_id": each}) for each in given))


def _environment(values: Mapping[str, Any]) -> Environment | None:
    given = values.get("environment")
    if given is None:
        return None
    if not isinstance(given, dict):
        raise InvalidRequest(f"environment must be an object, found {type_word(given)}")
    try:
        return Environment.from_dict(given)
    except ValueError as error:
        raise InvalidRequest(str(error)) from None


def _arguments(values: Mapping[str, Any], wanted: list[str]) -> dict[str, str]:
    given = values.get("arguments")
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise InvalidRequest(f"arguments must be an object from capability_id to text, found {type_word(given)}")
    for name in given:
        if name not in wanted:
            raise InvalidRequest(f"arguments names '{name[:64]}', which is not among capability_ids")
    said = {name: text for name, text in given.items() if text is not None}
    return {name: parameters.string(said, name, most=ARGUMENTS_CHARACTERS_MAX) for name in said}
