"""`chart_program.py CHART < sets > results`: renders, lints and validates the chart with other people's libraries.

It runs in an environment that has them. Standard input is `{name: values}`, standard output
`{name: {"error": text, "lint": [...], "invalid": [...], "manifests": [...]}}`, and `"promql": {expression: [names]}`
for the expressions that are read from the chart's alerts."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import promql_parser
import yaml
from helm_python import Chart, HelmError, lint

CHART = sys.argv[1]
SCHEMAS = Path(__file__).parents[1] / "data" / "kubernetes"
# Objects of other projects, by their own schemas.
OTHERS = {kind: json.loads((SCHEMAS / f"{kind.lower()}.json").read_text("utf-8")) for kind in
          ("HTTPRoute", "ServiceMonitor", "PrometheusRule")}  # fmt: skip


def examine(values: dict[str, Any]) -> dict[str, Any]:
    """One set of values."""
    try:
        with Chart.load(CHART) as chart:
            rendered = chart.render(values, name="studio", namespace="registry", is_install=True)
    except HelmError as error:
        return {"error": str(error)}
    manifests = [
        document
        for path, text in rendered.items()
        if path.endswith(".yaml")
        for document in yaml.safe_load_all(text)
        if document
    ]
    return {
        "error": "",
        "notes": next((text for path, text in rendered.items() if path.endswith("NOTES.txt")), ""),
        "lint": lint(CHART, values, strict=True),
        "invalid": [fault for manifest in manifests for fault in faults_of(manifest)],
        "manifests": manifests,
    }


def faults_of(manifest: dict[str, Any]) -> list[str]:
    """What the schema of its kind says, for the oldest Kubernetes that the chart takes and for the newest."""
    found = []
    own = OTHERS.get(manifest["kind"])
    for version in ("1.27", "1.37"):
        try:
            if own is None:
                kubernetes_validate.validate(manifest, version, strict=True)
            else:
                jsonschema.validate(manifest, own)
        except (kubernetes_validate.ValidationError, jsonschema.ValidationError) as error:
            where = "/".join(map(str, error.absolute_path))
            found.append(f"{manifest['kind']} {manifest['metadata']['name']} {version} {where}: {error.message[:300]}")
    return found


def names_in(expression: Any, found: set[str]) -> None:
    """The metrics that a parsed expression asks for."""
    if isinstance(expression, promql_parser.VectorSelector) and expression.name:
        found.add(expression.name)
    for part in ("expr", "lhs", "rhs", "selector", "vector_selector", "args"):
        value = getattr(expression, part, None)
        for each in value if isinstance(value, list) else [value]:
            if each is not None and not isinstance(each, str):
                names_in(each, found)


def read_alerts() -> dict[str, list[str]]:
    """Raises what the parser raises where an expression is none."""
    groups = yaml.safe_load((Path(CHART) / "alerts.yaml").read_text("utf-8"))["groups"]
    found = {}
    for rule in (rule for group in groups for rule in group["rules"]):
        names: set[str] = set()
        names_in(promql_parser.parse(rule["expr"]), names)
        found[rule["expr"]] = sorted(names)
    return found


if __name__ == "__main__":
    results: dict[str, Any] = {name: examine(values) for name, values in json.load(sys.stdin).items()}
    json.dump({"sets": results, "promql": read_alerts()}, sys.stdout)
