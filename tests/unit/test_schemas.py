"""schemas/: valid schemas, true examples, and digests that anybody can recompute."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from jsonschema import Draft202012Validator

from capability_kit.bundles.digest import bundle_digest, digest_of_load
from capability_rules.schema_loader import SCHEMAS_DIR, read_schema
from capability_rules.validation import validate_bundle
from tests.sweeps import check_each

VECTORS = json.loads((SCHEMAS_DIR / "digest-vectors.json").read_text("utf-8"))
SCHEMAS = sorted(SCHEMAS_DIR.rglob("*.schema.json"))
EXAMPLES = Path(__file__).parents[2] / "examples"


def test_every_schema_is_valid_2020_12() -> None:
    def check(file: Path) -> None:
        document = json.loads(file.read_text("utf-8"))
        Draft202012Validator.check_schema(document)
        assert document["$schema"] == "https://json-schema.org/draft/2020-12/schema"
        assert document["$id"].endswith(str(file.relative_to(SCHEMAS_DIR).as_posix()))
        assert document["title"]
        assert document["description"]

    check_each(SCHEMAS, check)


def _list_sub_schemas(schema: Any) -> Iterator[str]:
    """As JSON: each that is long enough to differ by mistake, with what stands in it."""
    children = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    text = json.dumps(schema, sort_keys=True)
    if isinstance(schema, dict) and len(text) > 120:
        yield text
    for child in children:
        yield from _list_sub_schemas(child)


def test_a_shape_of_the_api_is_written_once_and_shared_shapes_are_referred_to() -> None:
    files = [*(SCHEMAS_DIR / "api").glob("*.schema.json"), SCHEMAS_DIR / "shapes.schema.json"]
    texts = [file.read_text("utf-8") for file in files]
    counts = Counter(one for text in texts for one in _list_sub_schemas(json.loads(text)))
    assert [text for text, count in counts.items() if count > 1] == [], "move it to schemas/shapes.schema.json"
    for name in read_schema("shapes")["$defs"]:
        assert "".join(texts).count(f'shapes.schema.json#/$defs/{name}"') > 1, name


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_digest_vectors(vector: dict[str, Any]) -> None:
    assert rfc8785.dumps(vector["answer"]).decode() == vector["canonical"]
    assert bundle_digest(**vector["answer"]) == digest_of_load(vector["answer"]) == vector["digest"]


def test_the_readme_shows_the_first_vector() -> None:
    readme = (SCHEMAS_DIR / "README.md").read_text("utf-8")
    assert VECTORS[0]["canonical"] in readme
    assert VECTORS[0]["digest"] in readme


@pytest.mark.parametrize("folder", sorted(EXAMPLES.iterdir()), ids=lambda folder: folder.name)
def test_the_examples_have_no_finding(folder: Path) -> None:
    report = validate_bundle({file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()})
    assert report.findings == ()
    assert report.capability_id == folder.name


def test_layout_of_the_json_does_not_change_the_digest() -> None:
    files = {file.name: file.read_text("utf-8") for file in (EXAMPLES / "weights").iterdir() if file.is_file()}
    first = validate_bundle(files).bundle
    packed = {name: json.dumps(json.loads(text)) if name.endswith(".json") else text for name, text in files.items()}
    wrapped = packed | {"tools.json": json.dumps({"tools": json.loads(files["tools.json"])})}
    second = validate_bundle({name: "\ufeff" + text.replace("\n", "\r\n") for name, text in wrapped.items()}).bundle
    assert first is not None
    assert second is not None
    assert first.digest == second.digest


def test_utterances_are_no_part_of_the_digest_and_defaults_are_never_written_in() -> None:
    files = {file.name: file.read_text("utf-8") for file in (EXAMPLES / "weights").iterdir() if file.is_file()}
    capability = json.loads(files["capability.json"])
    first = validate_bundle(files).bundle
    without = validate_bundle(
        files | {"capability.json": json.dumps({k: v for k, v in capability.items() if k != "utterances"})}
    ).bundle
    with_default = validate_bundle(files | {"capability.json": json.dumps(capability | {"priority": 0})}).bundle
    assert first is not None
    assert without is not None
    assert with_default is not None
    assert first.digest == without.digest != with_default.digest
    assert first.content_digest != without.content_digest
