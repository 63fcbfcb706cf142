"""What OpenAI, Anthropic and Gemini would not take as a plain (non-strict) tool.

Sources: the type documentation and schema transformers of openai 3.54, anthropic 2.12 and google-genai 3.4. The export
of tools leaves out what a vendor refuses, and the validation of bundles warns of it.
"""

from __future__ import annotations

import re
from typing import Final

# Refused by OpenAI and Anthropic at the root of a tool's schema.
ROOT_REFUSED: Final = ("anyOf", "oneOf", "allOf", "not", "enum")
PROPERTY_NAMES: Final = {
    "gemini": re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}"),
    "anthropic": re.compile(r"[A-Za-z0-9_.-]{1,64}"),
}
