"""Whatever bytes come, the parsers of a bundle return a value or say what is wrong, and never fail."""

from __future__ import annotations

import io
import json
import zipfile

from hypothesis import given, settings
from hypothesis import strategies as st

from capability_kit.bundles.front_matter import split_front_matter
from capability_rules.bundles.archives import read_members, write_zip
from capability_rules.bundles.json_reader import read_json
from capability_rules.bundles.markdown_outline import parse_outline
from capability_rules.errors import RegistryError

FUZZ = settings(max_examples=150, deadline=None)
# Pieces that parsers look at, so that what is drawn gets past the first character.
PIECES = st.sampled_from(
    [
        "---\n",
        "name: a\n",
        "a: &x 1\n",
        "b: *x\n",
        "<<: *x\n",
        "!!python/object:os.system x\n",
        "- ",
        "[",
        "{",
        "}",
        "]",
        ": ",
        "\n",
        "  ",
        "\t",
        "# ",
        "## When to use\n",
        "```\n",
        "~~~\n",
        "<!--",
        "-->",
        "<pre>\n",
        "===\n",
        "| ",
        ">",
        "\\",
        '"',
        "'",
        "\u2028",
        "\ufeff",
        "\x00",
        "1e999",
        "NaN",
        '{"a":1,"a":2}',
        "?",
        "%YAML 1.1\n",
        "...\n",
        "a" * 300,
    ]
)
TEXTS = st.one_of(st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=30).map("".join), st.text(max_size=200))


@FUZZ
@given(TEXTS)
def test_front_matter_is_read_or_refused(text: str) -> None:
    found = split_front_matter(f"---\n{text}")
    # What was read is plain data: no tag made an object of it.
    json.dumps(found.values, default=str)
    for fault in found.faults:
        assert fault.message


def test_front_matter_has_no_aliases_tags_or_doubled_keys() -> None:
    for source in ("a: &x [1]\nb: *x\n", "a: !!python/object/apply:os.getcwd []\n", "a: 1\na: 2\n"):
        assert split_front_matter(f"---\n{source}---\n# T\n").faults, source
    bomb = "a: &a [x,x]\n" + "".join(f"{n}: &{n} [*{p},*{p}]\n" for p, n in zip("abcdefgh", "bcdefghi", strict=True))
    assert split_front_matter(f"---\n{bomb}---\n").faults


@FUZZ
@given(TEXTS)
def test_an_outline_covers_the_text_in_order(text: str) -> None:
    outline = parse_outline(text)
    lines = [heading.line for heading in outline.headings]
    assert lines == sorted(lines)
    assert all(1 <= line <= text.count("\n") + text.count("\r") + 2 for line in lines)


@FUZZ
@given(TEXTS)
def test_json_is_read_as_the_standard_reader_reads_it_or_explained(text: str) -> None:
    parsed = read_json(text)
    assert parsed.readable or parsed.faults
    if parsed.readable and not parsed.faults:
        assert json.loads(text) == parsed.value


@FUZZ
@given(st.binary(max_size=400), st.integers(0, 400), st.booleans())
def test_an_archive_is_read_or_refused(noise: bytes, place: int, is_tar: bool) -> None:
    """A good archive with bytes changed in it, and plain noise."""
    good = write_zip({"skill.md": b"# Title\n", "references/a.md": b"text" * 20})
    start = min(place, len(good))
    for data in (noise, good[:start] + noise + good[start + len(noise) :], b"\x1f\x8b" + noise if is_tar else noise):
        try:
            members = read_members(data, "upload")
        except RegistryError:
            continue
        for name, read in members.items():
            assert not name.startswith("/")
            assert ".." not in name.split("/")
            try:
                content = read(1_000_000)
            except RegistryError:
                continue
            assert len(content) <= 1_000_000


def test_a_good_archive_is_read_at_all() -> None:
    """Without this, a reader that refuses everything would pass."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("skill.md", "# Title\n")
    (read,) = read_members(stream.getvalue(), "upload").values()
    assert read(1000) == b"# Title\n"
