"""What was asked for at the beginning: nine packages in use, the layout, two endpoints and two error codes."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from registry.models import Revision
from studio.launcher.release import list_versions
from tests import factories
from tests.factories import bearer, damage, publish
from tests.imports import list_imports
from tests.servers import ROOT

fresh_process = pytest.fixture(autouse=True)(factories.fresh_process)

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
# Each package and the module that it installs.
PACKAGES = {
    "django": "django",
    "djangorestframework": "rest_framework",
    "django-htmx": "django_htmx",
    "jsonschema": "jsonschema",
    "psycopg": "psycopg",
    "celery": "celery",
    "redis": "redis",
    "drf-spectacular": "drf_spectacular",
    "pytest-django": "pytest_django",
}
LAYOUT = (
    "manage.py",
    "pyproject.toml",
    "studio/",
    "registry/",
    "agent_api/",
    "schemas/",
    "templates/",
    "tests/",
    "docker-compose.yml",
)


@cache
def _modules_in_use() -> set[str]:
    """The modules that our code imports, and those that the settings name: Django imports these by their paths."""
    named = {*settings.INSTALLED_APPS, *settings.MIDDLEWARE}
    folders = ("studio", "registry", "agent_api", "capability_rules", "tests")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    named |= {name for path in files for _line, name in list_imports(path)}
    return {name.partition(".")[0] for name in named}


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_is_declared_and_used(package: str) -> None:
    groups = [PROJECT["dependencies"], *PROJECT.get("optional-dependencies", {}).values()]
    groups += tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8")).get("dependency-groups", {}).values()
    declared = {re.split(r"[\[~=<>! ]", line)[0].lower() for group in groups for line in group if isinstance(line, str)}
    assert package in declared
    assert PACKAGES[package] in _modules_in_use()


def test_pages_answer_htmx_with_fragments() -> None:
    found = [*(ROOT / "studio" / "pages" / "views").glob("*.py"), *(ROOT / "features").glob("*/*pages.py")]
    views = [path.read_text("utf-8") for path in found]
    assert sum("request.htmx" in text for text in views) >= 5


@pytest.mark.parametrize("name", LAYOUT)
def test_the_layout_is_as_agreed(name: str) -> None:
    path = ROOT / name
    assert path.is_dir() if name.endswith("/") else path.is_file()


def test_parts_have_the_version_of_the_project() -> None:
    named = list(list_versions(ROOT))
    assert {version for _, version in named} == {PROJECT["version"]}
    # The packages, the two of npm, what the packages require of each other, and what pipelines install.
    assert len(named) >= 15, named


def test_the_changelog_begins_with_this_version() -> None:
    titles = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert next(title for title in titles if title != "Unreleased").startswith(f"{PROJECT['version']} - ")


def _get(path: str, status: int, **query: str) -> Any:
    response = Client().get(f"/api/v1/{path}", query, headers=bearer("read"))
    assert response.status_code == status, response.content
    return response.json()


@pytest.mark.django_db
def test_both_endpoints_answer() -> None:
    publish("sleep_log")
    listed = _get("capability_registry_list", 200)["capabilities"]
    assert [entry["capability_id"] for entry in listed] == ["sleep_log"]
    loaded = _get("capability_skill_load", 200, capability_id="sleep_log")
    assert {"skill_doc", "tools", "ui_schemas"} <= set(loaded)
    assert loaded["digest"] == listed[0]["digest"]


@pytest.mark.django_db
def test_both_error_codes_come_back() -> None:
    publish("mood_log")
    unknown = _get("capability_skill_load", 404, capability_id="sleep_tracking")["error"]
    assert unknown["code"] == "CAPABILITY_NOT_FOUND"
    assert unknown["message"] == "No capability found for ID 'sleep_tracking'"
    assert unknown["available_capabilities"] == ["mood_log"]
    damage(Revision.objects.get(), skill_md="nothing")
    malformed = _get("capability_skill_load", 422, capability_id="mood_log")["error"]
    assert malformed["code"] == "SKILL_MALFORMED"
    assert "details" in malformed
