"""Whether the sentence model of this registry reads the language in which a capability is written."""

from __future__ import annotations

from capability_rules.bundles.profile import CapabilityProfile
from registry.matching.embedders import get_embedder
from registry.matching.embedding import Embedder
from registry.matching.english import is_english
from registry.matching.minilm import MiniLmEmbedder
from registry.matching.scripts import LANGUAGES


def find_unread_text(known: CapabilityProfile) -> str:
    """A sentence that the model does not read, where it reads less than half of them; empty elsewhere and without a
    model, which compares words in any language."""
    embedder = get_embedder()
    texts = [text for text in (known.description, *known.sentences) if text.strip()]
    if embedder is None:
        return ""
    unread = [text for text in texts if not _reads(embedder, text)]
    return unread[0] if 2 * len(unread) > len(texts) else ""


def describe_languages() -> str:
    """Which languages are compared by sentence here, in words."""
    embedder = get_embedder()
    if embedder is None:
        return "none: words alone are compared"
    if isinstance(embedder, MiniLmEmbedder):
        return "English"
    return ", ".join(LANGUAGES) if hasattr(embedder, "multilingual") else "those of the endpoint's model"


def _reads(embedder: Embedder, text: str) -> bool:
    return embedder.can_read(text) and (is_english(text) or not isinstance(embedder, MiniLmEmbedder))
