"""docs/kubernetes.md: commands that the product has, values that the chart has, names that it gives."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.servers import ROOT
from tests.system.cluster import CHART
from tests.system.test_deploy_page import assert_manage_takes

pytestmark = [pytest.mark.system]

PAGE = (ROOT / "docs" / "kubernetes.md").read_text("utf-8")
BLOCKS = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
KINDS = {"deploy": "Deployment", "service": "Service", "cronjob": "CronJob"}


def _lines() -> Iterator[list[str]]:
    """Each command of the page as words."""
    for block in BLOCKS:
        for line in block.replace("\\\n", " ").splitlines():
            yield shlex.split(line)


def test_the_shell_reads_each_block() -> None:
    for block in BLOCKS:
        done = subprocess.run(["bash", "-n"], input=block, text=True, capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), block


def test_every_command_in_a_pod_is_one_of_the_product() -> None:
    commands = [words[words.index("--") + 1 :] for words in _lines() if words[:2] == ["kubectl", "exec"]]
    commands += [json.loads(found) for found in re.findall(r"\.command = (\[.*?\])'", PAGE)]
    assert len(commands) == 7
    for command in commands:
        assert command[:2] == ["python", "manage.py"]
        assert_manage_takes(command[2:])


def test_every_value_that_is_set_is_one_of_the_chart() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
    named = [words[at + 1] for words in _lines() for at, word in enumerate(words) if word.startswith("--set")]
    named += re.findall(r"`(\w+\.\w+(?:=\w+)?)`", PAGE.partition("## What a platform team asks")[0])
    assert len(named) > 12
    for text in named:
        found: Any = values
        for part in text.partition("=")[0].split("."):
            # These two take any name.
            if found is values["settings"] or found is values["secrets"]["values"]:
                break
            found = found[part]


def test_every_file_of_the_chart_that_is_named_is_there() -> None:
    named = set(re.findall(r"`(?:templates/)?(\w+\.yaml)`", PAGE))
    there = {path.name for path in CHART.rglob("*.yaml")}
    assert len(named) > 6
    assert named <= there


@pytest.mark.rare
def test_every_object_that_is_named_is_one_that_the_chart_makes(examined: dict[str, Any]) -> None:
    manifests = examined["sets"]["a secret of one's own"]["manifests"]
    made = {(one["kind"], one["metadata"]["name"]) for one in manifests}
    named = re.findall(r"(deploy|service|cronjob)/(studio-[\w-]+)", PAGE)
    assert {kind for kind, _ in named} == set(KINDS)
    assert {(KINDS[kind], name) for kind, name in named} <= made
    pods = set(re.findall(r"exec (studio-[\w-]+)-0 ", PAGE))
    assert len(pods) == 2
    assert {("StatefulSet", name) for name in pods} <= made
    # Where the job's command is replaced.
    (backup,) = [one for one in manifests if one["kind"] == "CronJob"]
    assert len(backup["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]) == 1
