"""Playbooks as the JSON records of other stores: title, problem, resolution_md ... (docs/requirements.md D)."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from capability_kit.bundles.skill_names import capability_id_of, nearest_skill_name
from capability_rules.bundles.bundle_reader import SourceBundle
from capability_rules.bundles.json_edits import to_json
from capability_rules.errors import SourceUnreadable

RECORDS_MAX: Final = 1000
# All of them are parsed together, in memory.
RECORDS_BYTES_MAX: Final = 20 * 1024 * 1024
_NEEDED: Final = ("title", "problem", "resolution_md")
# What a record says of its own trust: the registry counts by itself.
_CONFIDENCE: Final = re.compile(r"^\*\*(?:Confidence|Product Area|Issue Type):\*\*.*\n?", re.IGNORECASE | re.MULTILINE)


def read_playbook_records(data: bytes, path: str) -> list[SourceBundle]:
    """The bundles of a file with one record, or with an array of them. Raises `SourceUnreadable` with the place."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        raise SourceUnreadable(f"{path}: not valid JSON") from None
    records = document if isinstance(document, list) else [document]
    if not 1 <= len(records) <= RECORDS_MAX:
        raise SourceUnreadable(f"{path}: {len(records):,} records; 1 to {RECORDS_MAX:,} can be imported at once")
    found = [_bundle(record, path if len(records) == 1 else f"{path}#{index}") for index, record in enumerate(records)]
    ids = [bundle.folder for bundle in found]
    twice = sorted({name for name in ids if ids.count(name) > 1})
    if twice:
        raise SourceUnreadable(f"{path}: two records have titles that make the id '{twice[0]}'")
    return found


def _bundle(record: Any, path: str) -> SourceBundle:
    missing = [key for key in _NEEDED if not isinstance(record, dict) or not _text(record, key)]
    if missing:
        raise SourceUnreadable(f"{path}: a playbook record has {', '.join(_NEEDED)}; {missing[0]} is missing")
    title, problem = _text(record, "title"), _text(record, "problem")
    capability_id = capability_id_of(nearest_skill_name(title))
    if not capability_id:
        raise SourceUnreadable(f"{path}: the title '{title[:80]}' has no letter a to z or digit to make an id of")
    playbook = {
        "problem": problem[:4000],
        "conditions": _texts(record, "conditions"),
        "keywords": _texts(record, "keywords"),
    }
    playbook |= {key: text for key in ("product_area", "issue_type") if (text := _text(record, key))}
    capability = {
        "capability_id": capability_id,
        "name": title[:80],
        "description": problem[:1024],
        "skill_profile": "playbook",
        "playbook": playbook,
    }
    text = _CONFIDENCE.sub("", _text(record, "resolution_md"))
    files = {"capability.json": to_json(capability), "skill.md": text.strip() + "\n"}
    return SourceBundle(path, {name: text.encode() for name, text in files.items()}, capability_id)


def _text(record: dict[str, Any], key: str) -> str:
    value = record.get(key)
    return value.strip() if isinstance(value, str) else ""


def _texts(record: dict[str, Any], key: str) -> list[str]:
    value = record.get(key)
    return [item.strip() for item in value if isinstance(item, str) and item.strip()] if isinstance(value, list) else []
