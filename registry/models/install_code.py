"""`SKILL-XXXX-XXXX-XXXX`: what an install code looks like, and a new one."""

from __future__ import annotations

import re
import secrets
import string
from typing import Final

CODE_ALPHABET: Final = string.ascii_uppercase + string.digits
CODE_PATTERN: Final = re.compile(r"SKILL(?:-[A-Z0-9]{4}){3}")


def new_code() -> str:
    """A random one: 36^12 are more than anyone can try."""
    return "-".join(["SKILL", *("".join(secrets.choice(CODE_ALPHABET) for _ in range(4)) for _ in range(3))])
