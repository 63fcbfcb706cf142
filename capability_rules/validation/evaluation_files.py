"""What travels beside a bundle: cases of evaluations, and results of them. No agent gets them; people and exports do.

Users' messages in a case may say anything. What they hide, and secrets, are found as in every other file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from capability_kit.evaluation_cases import PATH, CasesInvalid, list_unread_keys, parse_case_file
from capability_kit.json_text import parse_json
from capability_rules.bundles.problem import RawFinding
from capability_rules.validation.codes import list_codes
from capability_rules.validation.security.detectors.hidden_characters import find_hidden_characters
from capability_rules.validation.security.detectors.secrets import find_secrets
from capability_rules.validation.security.normalization import quote_excerpt
from capability_rules.validation.security.text_corpus import find_json_texts

_NAMED_MAX: Final = 20


def check_evaluation_files(texts: Mapping[str, str]) -> Iterator[RawFinding]:
    """Of each of these files, by path: what it hides, and of the cases what no run reads."""
    for name, text in texts.items():
        yield from find_hidden_content(name, text)
    if PATH in texts:
        yield from _check_cases(texts[PATH])


def find_hidden_content(name: str, text: str) -> Iterator[RawFinding]:
    """Secrets and hidden characters of a text, for which every other file is refused. In JSON, escapes are read."""
    value = parse_json(text)
    said = text if value is None else "\n".join(one.text for one in find_json_texts(name, value))
    for content, hits in ((text, find_secrets(text)), (said, find_hidden_characters(said))):
        for hit in hits:
            if hit.severity == "error":
                quote = quote_excerpt(content[hit.start : hit.end] if hit.quote is None else hit.quote)
                offset = hit.start if content is text else None
                message = f'Seen: {hit.says}: "{quote}".'
                yield RawFinding(
                    hit.code, name, (), message, list_codes()[hit.code].fix, offset=offset, severity="error"
                )


def _check_cases(text: str) -> Iterator[RawFinding]:
    try:
        unread = list_unread_keys(parse_case_file(text))
    except CasesInvalid as error:
        yield RawFinding("CASES_INVALID", PATH, (), f"No case is taken: {error}", "Correct it, and import it again.")
        return
    if unread:
        more = f" and {len(unread) - _NAMED_MAX:,} more" if len(unread) > _NAMED_MAX else ""
        named = ", ".join(f"'{one[:80]}'" for one in unread[:_NAMED_MAX])
        message = f"No run reads {named}{more}; they are kept, and an export has them"
        yield RawFinding("CASES_KEY_UNKNOWN", PATH, (), message, "Nothing, unless it is a slip of the pen.")
