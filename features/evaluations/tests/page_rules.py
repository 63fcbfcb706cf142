"""Who may open the pages of evaluations, and what their forms do."""

import json

from features.evaluations import case_store, rules
from features.evaluations.models import EvaluationResult, EvaluationRun, PlaygroundChat, PlaygroundStep, SavedCase
from registry.core.queries import get_capability
from tests.factories import OLGA
from tests.feature_pages import FeaturePages


def furnish() -> None:
    """A row in each table: a case of alpha, a run of it, a result, a chat, and a rule of a group that nothing is in."""
    alpha = get_capability("alpha")
    document = {"name": "greets", "messages": ["hello"], "expect": {"loads": "alpha"}}
    case_store.replace_cases(capability=alpha, text=json.dumps({"evals": [document]}), by=OLGA)
    run = EvaluationRun.objects.create(capability=alpha, side="live", model="small", total=1, created_by=str(OLGA))
    EvaluationResult.objects.create(run=run, case="greets", case_digest="sha256:", repetition=1)
    chat = PlaygroundChat.objects.create(created_by="the-admin", model="small")
    PlaygroundStep.objects.create(chat=chat, number=1, kind="message", content={"text": "alpha please"})
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
        "playground_chat_list": ("author", "author"),
        # Of the admin's own chat.
        "playground_chat": ("admin", "admin"),
        "playground_chat_save": ("admin", "admin"),
        "playground_chat_delete": ("admin", "admin"),
        "evaluation_rule_set": ("admin", "admin"),
        "evaluation_rule_drop": ("admin", "admin"),
    },
    confirmed={
        "evaluation_delete": dict,
        "playground_chat_delete": dict,
        "evaluation_rule_drop": lambda: {"group_id": "health"},
    },
    harmless={
        "evaluation_new": "adds a case, which can be deleted",
        "evaluation_suggest": "adds cases, which can be deleted",
        "evaluation_file": "the file that was there can be downloaded on the same page",
        "evaluation_start": "plays cases, within the budget; it can be canceled",
        "evaluation_case": "the case can be changed back",
        "evaluation_cancel": "a run can be started again",
        "playground_chat_list": "begins a chat, which can be deleted",
        "playground_chat": "says something in a chat, which can be deleted",
        "playground_chat_save": "adds a case, which can be deleted",
        "evaluation_rule_set": "the rule can be set back",
    },
    ordinary=frozenset(
        {"evaluation_new", "evaluation_suggest", "evaluation_file", "evaluation_start", "evaluation_case"}
    )
    | {"evaluation_delete", "evaluation_cancel", "playground_chat_list", "playground_chat", "playground_chat_save"}
    | {"playground_chat_delete"},
    numbered={
        "evaluation_case": SavedCase,
        "evaluation_delete": SavedCase,
        "playground_chat": PlaygroundChat,
        "evaluation_run": EvaluationRun,
        "evaluation_cancel": EvaluationRun,
        "evaluation_results": EvaluationRun,
    },
    furnish=furnish,
    own=frozenset({"playground_chat", "playground_chat_save", "playground_chat_delete"}),
)
