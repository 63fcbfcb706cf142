"""Office documents for tests, as small as they can be."""

from __future__ import annotations

import io
import zipfile

_CONTENT_TYPES = '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'


def docx(text: str, *, run: str = "", more: dict[str, bytes | str] | None = None) -> bytes:
    """A Word document of one paragraph; `run` are properties of its run in XML, `more` are members beside it."""
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    body = f"<w:p><w:r>{f'<w:rPr>{run}</w:rPr>' if run else ''}<w:t>{text}</w:t></w:r></w:p>"
    document = f'<?xml version="1.0"?><w:document xmlns:w="{space}"><w:body>{body}</w:body></w:document>'
    return office({"[Content_Types].xml": _CONTENT_TYPES, "word/document.xml": document, **(more or {})})


def office(members: dict[str, bytes | str]) -> bytes:
    """A zip of these members, the same bytes each time."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
