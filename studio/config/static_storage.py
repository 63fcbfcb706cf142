"""How static files get their hashed names."""

from __future__ import annotations

from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedStaticFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc] # whitenoise has no types
    """Hashed and compressed, with the addresses inside style sheets rewritten.

    Scripts are left as they are: what their comments call a source map is not shipped, and Django takes a map that is
    missing for a broken reference.
    """

    patterns = tuple(
        (glob, tuple(rule for rule in rules if "sourceMappingURL" not in (rule if isinstance(rule, str) else rule[0])))
        for glob, rules in CompressedManifestStaticFilesStorage.patterns
        if glob == "*.css"
    )
