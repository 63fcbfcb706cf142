"""The test vectors of schemas/vectors/: what the Python library makes of each input.

`python -m tests.unit.vectors` writes what is expected anew; the inputs in the files are edited by hand.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from capability_client.session.hints import hints_from_match
from capability_client.session.invocations import read_mentions
from capability_kit.bundles import front_matter, front_matter_keys
from capability_kit.bundles.bundle import Bundle, ListingEntry
from capability_kit.bundles.tool_names import wire_name
from capability_kit.environment.probe import Environment
from capability_kit.environment.readiness import check_readiness
from capability_kit.json_schema.coercion import coerce
from capability_kit.json_schema.validation import find_schema_errors, without_nulls
from capability_kit.prompt import PromptContext, render_prompt
from capability_kit.text.trigger_matching import TriggerIndex
from capability_kit.tool_gate import ERRORS_MAX
from registry.matching.clauses import split_clauses
from tests.servers import ROOT

FOLDER: Final = ROOT / "schemas" / "vectors"
Json = dict[str, Any]


def triggers(given: Json) -> Any:
    """Where each trigger occurs in the message."""
    hits = TriggerIndex((owner, phrase) for owner, phrase in given["triggers"]).find(given["message"])
    keys = ("owner", "trigger", "start", "end", "is_weak")
    return [{key: getattr(hit, key) for key in keys} for hit in hits]


def hints(given: Json) -> Any:
    """What a session hints for a response of capability_match, the first one first."""
    entries = {row["capability_id"]: ListingEntry.from_answer(row) for row in given["capabilities"]}
    return [hint.capability_id for hint in hints_from_match(given["match"], entries)]


def clauses(given: Json) -> Any:
    """The clauses of a message, each matched for itself."""
    return [given["message"][start:end] for start, end in split_clauses(given["message"])]


def skill_front_matter(given: Json) -> Any:
    """The values of a SKILL.md's front matter, its text, and what of it is capability.json's."""
    text = front_matter.normalize_skill_text(given["text"])
    found = front_matter.read_front_matter(text)
    capability: Json = {}
    front_matter_keys.move_top_level(dict(found.values), capability)
    metadata = found.values.get("metadata")
    for name, block in metadata.items() if isinstance(metadata, dict) else ():
        if name in front_matter_keys.BLOCKS and isinstance(block, dict):
            front_matter_keys.move_block(block, capability)
    return {"values": found.values, "body": text[found.body_offset :], "capability": capability}


def readiness(given: Json) -> Any:
    """Whether a capability can be used in an environment, and what is missing."""
    return check_readiness(given["capability"], Environment.from_dict(given["environment"])).as_dict()


def wire_names(given: Json) -> Any:
    """The name under which a model sees a tool."""
    return wire_name(given["capability_id"], given["tool"])


def mentions(given: Json) -> Any:
    """What a user invokes by `$name`."""
    found = read_mentions(given["message"], given["known"])
    return {
        "message": found.message,
        "without_names": found.without_names,
        "invocations": [[each.capability_id, each.arguments] for each in found.invocations],
        "misspellings": [list(each) for each in found.misspellings],
    }


def prompts(given: Json) -> Any:
    """The prompt for some load responses, the most important first."""
    bundles = [Bundle.from_answer(answer) for answer in given["bundles"]]
    asked = given.get("environment")
    environment = Environment.from_dict(asked) if asked else None
    judged = {each.capability_id: check_readiness(each, environment) for each in bundles} if environment else {}
    more = {"characters_max": given["characters_max"]} if "characters_max" in given else {}
    extras = PromptContext(preamble=given.get("preamble", ""), hints=tuple(given.get("hints", ())))
    return render_prompt(bundles, judged, arguments=given.get("arguments"), extras=extras, **more).as_dict()


def arguments(given: Json) -> Any:
    """The arguments as a tool gets them, or what does not fit."""
    schema, raw = given["schema"], given["arguments"]
    prepared = coerce(raw, schema) if given.get("from_form") else without_nulls(raw, schema)
    errors = find_schema_errors(schema, prepared, most=ERRORS_MAX)
    return {"is_valid": not errors, **({"errors": errors} if errors else {"given": prepared})}


KINDS: Final[dict[str, Callable[[Json], Any]]] = {
    "arguments": arguments,
    "clauses": clauses,
    "front_matter": skill_front_matter,
    "hints": hints,
    "mentions": mentions,
    "prompts": prompts,
    "readiness": readiness,
    "triggers": triggers,
    "wire_names": wire_names,
}


def read_vectors(kind: str) -> Json:
    """One file: `{"about", "cases": [{"name", "input", "expected"}]}`."""
    document: Json = json.loads(_path(kind).read_text("utf-8"))
    return document


def _path(kind: str) -> Path:
    return FOLDER / f"{kind}.json"


def main() -> None:
    """Write what is expected into every file."""
    for kind, compute in KINDS.items():
        document = read_vectors(kind)
        for case in document["cases"]:
            case["expected"] = compute(case["input"])
        _path(kind).write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
