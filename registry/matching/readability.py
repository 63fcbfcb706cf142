"""Whether the sentence model of this registry reads the language in which a capability is written."""

from __future__ import annotations

from typing import Final

from capability_kit.text.languages import is_known_language, primary_language
from capability_rules.bundles.profile import CapabilityProfile
from registry.matching.embedders import EndpointEmbedder, get_embedder
from registry.matching.embedding import Embedder
from registry.matching.english import is_english
from registry.matching.minilm import MiniLmEmbedder
from registry.matching.scripts import LANGUAGES

# The tags of scripts.LANGUAGES; which of the two Chinese scripts it is makes no difference.
_TAGS_OF_SIXTEEN: Final = frozenset(
    ["ar", "zh", "nl", "en", "fr", "de", "it", "ja", "ko", "pl", "pt", "ru", "es", "th", "tr"]
)


def find_unread_text(known: CapabilityProfile) -> str:
    """A sentence that the model does not read, where it reads less than half of them or the declared language is none
    of its own; empty elsewhere and without a model, which compares words in any language."""
    embedder = get_embedder()
    texts = [text for text in (known.description, *known.sentences) if text.strip()]
    if embedder is None or not texts:
        return ""
    declared = primary_language(known.language)
    if is_known_language(declared) and _languages_of(embedder):
        return "" if declared in _languages_of(embedder) else texts[0]
    unread = [text for text in texts if not _reads(embedder, text)]
    return unread[0] if 2 * len(unread) > len(texts) else ""


def describe_model() -> str:
    """The names of the sentence models that are in use; empty where words alone are compared."""
    return describe_embedder(get_embedder())


def describe_embedder(embedder: Embedder | None) -> str:
    """The names of its models; empty for none."""
    if embedder is None:
        return ""
    # The id of an endpoint has its address, which may hold a key.
    return embedder.model if isinstance(embedder, EndpointEmbedder) else ", ".join(embedder.model_id.split("+"))


def describe_languages() -> str:
    """Which languages are compared by sentence here, in words."""
    embedder = get_embedder()
    if embedder is None:
        return "none: words alone are compared"
    if isinstance(embedder, MiniLmEmbedder):
        return "English"
    return ", ".join(LANGUAGES) if hasattr(embedder, "multilingual") else "those of the endpoint's model"


def _languages_of(embedder: Embedder) -> frozenset[str]:
    """The tags of the languages that the model reads; empty where only its operator knows."""
    if isinstance(embedder, MiniLmEmbedder):
        return frozenset(["en"])
    return _TAGS_OF_SIXTEEN if hasattr(embedder, "multilingual") else frozenset()


def _reads(embedder: Embedder, text: str) -> bool:
    return embedder.can_read(text) and (is_english(text) or not isinstance(embedder, MiniLmEmbedder))
