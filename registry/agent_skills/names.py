"""`capability_id` and the `name` of an Agent Skill correspond one to one: `_` is `-` (docs/contract.md 6)."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

NAME_LENGTH_MAX: Final = 64
_SKILL_NAME: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_NO_WORD: Final = re.compile(r"[^a-z0-9]+")


def is_skill_name(text: str) -> bool:
    """Whether the Agent Skills format takes it as a name: lower-case words joined by single hyphens, at most 64."""
    return len(text) <= NAME_LENGTH_MAX and _SKILL_NAME.fullmatch(text) is not None


def capability_id_of(name: str) -> str:
    """The id of a valid name. No two valid names have one id: `-` becomes `_`, and no name contains `_`."""
    return name.replace("-", "_")


def skill_name_of(capability_id: str) -> str:
    """The name of a capability as an Agent Skill; the inverse of `capability_id_of`."""
    return capability_id.replace("_", "-")


def nearest_skill_name(text: str) -> str:
    """A valid name made of an invalid one (`Cold Email` is `cold-email`); empty where nothing of it is allowed.

    Several names may result in the same one: the caller reports that.
    """
    plain = unicodedata.normalize("NFKD", text).casefold()
    plain = "".join(character for character in plain if not unicodedata.combining(character))
    return _NO_WORD.sub("-", plain).strip("-")[:NAME_LENGTH_MAX].strip("-")
