"""How static files get their hashed names, and the parts of a style sheet become one file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import InMemoryStorage
from whitenoise.storage import CompressedManifestStaticFilesStorage

_IMPORT = re.compile(r'^@import "([\w/]+\.css)"(?: layer\((\w+)\))?;$', re.MULTILINE)


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

    def post_process(self, paths: dict[str, Any], **options: Any) -> Iterator[Any]:
        """As before it, with the parts of each style sheet joined first: a page asks for one file."""

        def read(name: str) -> str:
            storage, path = paths[name]
            with storage.open(path) as file:
                return str(file.read().decode())

        joined = InMemoryStorage()
        sheets = [name for name in paths if name.endswith(".css") and _IMPORT.search(read(name))]
        for name in sheets:
            joined.save(name, ContentFile(join_parts(name, read).encode()))
        yield from super().post_process(paths | {name: (joined, name) for name in sheets}, **options)


def join_parts(sheet: str, read: Callable[[str], str]) -> str:
    """The text of a sheet with each part in the place of its import; `read` takes a name as `sheet` is one.

    Browsers that are given the sheet as it is written load the parts by themselves, with the same outcome.
    """
    folder = PurePosixPath(sheet).parent

    def part(found: re.Match[str]) -> str:
        name, layer = found.groups()
        # A part is one folder further down than the sheet.
        text = read(str(folder / name)).replace('url("../', 'url("')
        return f"@layer {layer} {{\n{text}}}" if layer else text.rstrip("\n")

    return _IMPORT.sub(part, read(sheet))
