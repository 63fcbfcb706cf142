"""Tools that say of themselves that they change something, and are declared as tools that only read.

A tool declared `read` is called without asking. The name counts by its verb, first or last ("delete_account",
`account_delete`); the description by the verb it starts with. A name that starts with a reading verb reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from capability_rules.bundles.problem import RawFinding, Severity
from capability_rules.validation.security.normalization import normalize_text
from capability_rules.validation.security.rule_loader import load_phrases, load_words

_READS, _HARMS, _WRITES = load_words("policy_mismatch", "reads", "harms", "writes")
_LAST_ONLY, _THINGS = load_words("policy_mismatch", "last_only", "things")
_PURE, _NOT_DONE, _CLAIMS_TO_READ, _NOUN = load_phrases("policy_mismatch", "pure", "not_done", "claims_to_read", "noun")
_DESCRIBED, _PERMANENT, _ELSEWHERE = load_phrases("policy_mismatch", "described", "permanent", "elsewhere")
_GERUNDS = {"deleting": "delete", "removing": "remove", "sending": "send", "paying": "pay"}


def check_policies(tools: Iterable[object]) -> list[RawFinding]:
    """Every tool whose name or description contradicts its `policy.kind` "read"; what is not a tool is passed over."""
    found: list[RawFinding] = []
    for index, tool in enumerate(tools):
        if isinstance(tool, dict):
            found.extend(_check(index, tool))
    return found


def find_contradiction(tool: dict[str, object]) -> tuple[Severity, str] | None:
    """How a tool declared `read` contradicts itself: (severity, the words that do), or None."""
    policy = tool.get("policy")
    if not isinstance(policy, dict) or policy.get("kind") != "read":
        return None
    name, description = tool.get("name"), tool.get("description")
    said = normalize_text(description).strip()[:400] if isinstance(description, str) else ""
    said = _CLAIMS_TO_READ.sub("", said)
    if _NOT_DONE.search(said):
        return None
    named = _verb_of_name(name) if isinstance(name, str) else ""
    described = _verb_of_description(said)
    if named in _HARMS and not (_PURE.search(said) and described not in _HARMS):
        return "error", named
    if described in _HARMS or _PERMANENT.search(said) or _ELSEWHERE.search(said):
        return ("error", said[:40]) if not _PURE.search(said) else ("warning", said[:40])
    if named in _WRITES and described not in _READS and not _PURE.search(said):
        return "warning", named
    return None


def _check(index: int, tool: dict[str, object]) -> Iterator[RawFinding]:
    seen = find_contradiction(tool)
    if seen is None:
        return
    severity, words = seen
    code = "SEC_POLICY_LIE" if severity == "error" else "SEC_POLICY_DOUBT"
    name = tool.get("name")
    message = f'The tool {str(name)[:60]!r} is declared "read", but says that it changes something: "{words[:60]}".'
    hint = 'Declare "kind": "write" and set "requires_approval".'
    yield RawFinding(code, "tools.json", (index, "policy", "kind"), message, hint)


def _verb_of_name(name: str) -> str:
    parts = [
        part for part in re.split(r"[^a-z0-9]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name[:200]).lower()) if part
    ]
    if not parts:
        return ""
    if "and" in parts or "or" in parts:
        return next((part for part in parts if part in _HARMS), "")
    first, last = parts[0], parts[-1]
    if first in _READS or last in _THINGS or last in _READS - {"test", "load", "read"}:
        return ""
    if first in _HARMS or first in _WRITES:
        return "" if first.endswith("s") and _NOUN.search(" ".join(parts[1:])) else first
    return (
        last if last in _LAST_ONLY else next((part for part in parts[1:-1] if part in ("delete", "erase", "purge")), "")
    )


def _verb_of_description(said: str) -> str:
    match = _DESCRIBED.match(said)
    if match is None or (match["verb"].endswith("s") and _NOUN.search(said[match.end() :])):
        return ""
    return _GERUNDS.get(match["verb"], match["verb"])
