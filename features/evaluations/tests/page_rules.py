"""Who may open the pages of evaluations, and what their forms do."""

import json

from features.evaluations import case_store, rules
from features.evaluations.models import EvaluationResult, EvaluationRun, SavedCase
from registry.core.queries import get_capability
from tests.factories import OLGA
from tests.feature_pages import FeaturePages


def furnish() -> None:
    """A row in each table: a case of alpha, a run of it, a result, and a rule of a group that nothing is in."""
    alpha = get_capability("alpha")
    document = {"name": "greets", "messages": ["hello"], "expect": {"loads": "alpha"}}
    case_store.replace_cases(capability=alpha, text=json.dumps({"evals": [document]}), by=OLGA)
    run = EvaluationRun.objects.create(capability=alpha, side="live", model="small", total=1, created_by=str(OLGA))
    EvaluationResult.objects.create(run=run, case="greets", case_digest="sha256:", repetition=1)
    rules.set_rule(group_id="health", share=80, by=OLGA)


PAGES = FeaturePages(
    roles={
        "evaluation_new": ("author", "author"),
        "evaluation_suggest": ("author", "author"),
        "evaluation_file": ("author", "author"),
        "evaluation_start": ("author", "author"),
        "evaluation_case": ("author", "author"),
        "evaluation_delete": ("author", "author"),
        "evaluation_cancel": ("author", "author"),
        "evaluation_rule_set": ("admin", "admin"),
        "evaluation_rule_drop": ("admin", "admin"),
    },
    confirmed={
        "evaluation_delete": dict,
        "evaluation_rule_drop": lambda: {"group_id": "health"},
    },
    harmless={
        "evaluation_new": "adds a case, which can be deleted",
        "evaluation_suggest": "adds cases, which can be deleted",
        "evaluation_file": "the file that was there can be downloaded on the same page",
        "evaluation_start": "plays cases, within the budget; it can be canceled",
        "evaluation_case": "the case can be changed back",
        "evaluation_cancel": "a run can be started again",
        "evaluation_rule_set": "the rule can be set back",
    },
    ordinary=frozenset(
        {"evaluation_new", "evaluation_suggest", "evaluation_file", "evaluation_start", "evaluation_case"}
    )
    | {"evaluation_delete", "evaluation_cancel"},
    numbered={
        "evaluation_case": SavedCase,
        "evaluation_delete": SavedCase,
        "evaluation_run": EvaluationRun,
        "evaluation_cancel": EvaluationRun,
        "evaluation_results": EvaluationRun,
    },
    furnish=furnish,
)
