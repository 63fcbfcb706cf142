"""The official test suite of JSON Schema, as the arguments of a tool would be checked.

The suite is data of json-schema-org/JSON-Schema-Test-Suite. `JSON_SCHEMA_TEST_SUITE` names a folder with it; without
it, the source archive of `jsonschema` on the Python package index carries a copy.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from capability_kit.bundles.tool_export import VENDORS, export_tools
from capability_kit.json_schema.evaluator import SchemaUnsafe
from capability_kit.json_schema.graph import SchemaGraph
from capability_kit.json_schema.validation import find_schema_error
from tests.sweeps import check_each

pytestmark = pytest.mark.rare

# Custom meta-schemas, and `format` or content as an assertion: all is checked as 2020-12 without them. In draft-07
# other keywords beside `$ref` do not count.
_DIFFERENT = {
    ("draft2020-12", "vocabulary.json", "schema that uses custom metaschema with with no validation vocabulary"),
    ("draft2020-12", "format-assertion.json", "schema that uses custom metaschema with format-assertion: false"),
    ("draft2020-12", "format-assertion.json", "schema that uses custom metaschema with format-assertion: true"),
    ("draft2019-09", "vocabulary.json", "schema that uses custom metaschema with with no validation vocabulary"),
    ("draft7", "ref.json", "ref overrides any sibling keywords"),
    ("draft7", "ref.json", "$ref prevents a sibling $id from changing the base uri"),
    ("draft7", "content.json", "validation of string-encoded content based on media type"),
    ("draft7", "content.json", "validation of binary string-encoding"),
    ("draft7", "content.json", "validation of binary-encoded media type documents"),
}
# What says why a schema is refused: documents that would have to be fetched; a list of `items`, and an anchor that is
# written as an `$id`, as older drafts had them.
_REMOTE = ("http://localhost:1234", "json-schema.org/draft")
_OLDER = ('"items": [', '"$id": "#')
_REFUSED = {"draft2020-12": _REMOTE, "draft2019-09": (*_REMOTE, *_OLDER), "draft7": (*_REMOTE, *_OLDER)}

Case = tuple[str, str, str, Any, Any, bool]


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = os.environ.get("JSON_SCHEMA_TEST_SUITE")
    if folder:
        return Path(folder) / "tests"
    download = tmp_path_factory.mktemp("jsonschema")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "jsonschema"]
    wanted = f"jsonschema=={version('jsonschema')}"
    done = subprocess.run([*command, "--dest", str(download), wanted], capture_output=True, check=False, timeout=300)
    if done.returncode != 0:
        pytest.skip(f"needs the Python package index, or JSON_SCHEMA_TEST_SUITE: {done.stderr.decode().strip()[-200:]}")
    (archive,) = download.glob("*.tar.gz")
    with tarfile.open(archive) as source:
        source.extractall(download, filter="data")
    (found,) = download.glob("jsonschema-*/json/tests")
    return found


def _cases(suite: Path, draft: str) -> Iterator[Case]:
    for file in sorted([*(suite / draft).glob("*.json"), *(suite / draft / "optional").glob("*.json")]):
        for group in json.loads(file.read_text("utf-8")):
            for test in group["tests"]:
                yield (
                    file.name,
                    group["description"],
                    test["description"],
                    group["schema"],
                    test["data"],
                    test["valid"],
                )


@pytest.mark.parametrize("draft", _REFUSED)
def test_json_schema_suite_has_the_verdicts_of_its_authors(suite: Path, draft: str) -> None:
    def check(case: Case) -> None:
        file, group, _, schema, data, valid = case
        try:
            found = find_schema_error(schema, data)
        except SchemaUnsafe:
            assert any(word in json.dumps(schema) for word in _REFUSED[draft])
            return
        assert (found == "") is valid or (draft, file, group) in _DIFFERENT

    cases = list(_cases(suite, draft))
    assert len(cases) > 1_000
    check_each(cases, check)


@pytest.mark.parametrize("draft", _REFUSED)
def test_json_schema_suite_is_exported_with_all_its_targets_or_refused_with_the_reason(suite: Path, draft: str) -> None:
    def check(schema: dict[str, Any]) -> None:
        tool = {"name": "t", "description": "Does it.", "policy": {"kind": "read"}, "args_schema": schema}
        for vendor in VENDORS:
            made = export_tools({"t": tool}, vendor)
            if any("reference" in reason for reason in made.left_out.values()):
                assert not SchemaGraph(schema).is_resolved
            for exported in _schemas(made.tools):
                assert not SchemaGraph(exported).bad_references
                assert all(target.startswith("#/$defs/") for target in _targets(exported))

    cases = {json.dumps(case[3]): case[3] for case in _cases(suite, draft) if isinstance(case[3], dict)}
    assert len(cases) > 200
    check_each([{"type": "object", **schema} for schema in cases.values()], check)


def _schemas(value: Any) -> Iterator[dict[str, Any]]:
    names = ("parameters", "input_schema", "parametersJsonSchema", "inputSchema")
    if isinstance(value, list):
        for item in value:
            yield from _schemas(item)
    elif isinstance(value, dict):
        yield from [value[name] for name in names if name in value]
        yield from _schemas(value.get("function"))
        yield from _schemas(value.get("functionDeclarations"))


def _targets(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from ([value["$ref"]] if isinstance(value.get("$ref"), str) else [])
        value = [item for key, item in value.items() if key not in ("enum", "const", "default", "examples")]
    for item in value if isinstance(value, list) else ():
        yield from _targets(item)
