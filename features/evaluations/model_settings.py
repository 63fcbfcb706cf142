"""The model of the settings, and what it may cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from django.conf import settings
from django.db.models import QuerySet, Sum
from django.utils import timezone

from capability_client.evaluation.model_port import ModelSettings
from capability_rules.errors import InvalidRequest
from features.evaluations.models import ModelUse

BUDGET_SPENT: Final = "Your budget of tokens for today (MODEL_TOKENS_A_DAY) is used up"


def is_model_set() -> bool:
    """Whether runs are possible."""
    return bool(settings.MODEL_URL and settings.MODEL_NAMES)


def list_models() -> list[str]:
    """Their names, the first being the one that is offered first."""
    return list(settings.MODEL_NAMES) if settings.MODEL_URL else []


def require_models(names: Sequence[str]) -> None:
    """Raises `InvalidRequest` where there is no model, or one of these is not there."""
    if not is_model_set():
        raise InvalidRequest("There is no model: set MODEL_URL and MODEL_NAMES")
    unknown = next((name for name in names or [""] if name not in list_models()), None)
    if unknown is not None:
        raise InvalidRequest(f"There is no model '{unknown[:80]}': expected one of {', '.join(list_models())}")


def get_model(name: str) -> ModelSettings:
    """Where the model is. The key goes nowhere but into the request."""
    return ModelSettings(settings.MODEL_URL or "", name, settings.MODEL_KIND, settings.MODEL_API_KEY)


def tokens_left(member: str) -> int | None:
    """How many tokens a member (`str` of the actor) may still use today (UTC); None where nothing limits them.

    Each member has a budget of their own: nobody's runs use up another's.
    """
    if not settings.MODEL_TOKENS_A_DAY:
        return None
    begin = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    used = sum(
        _tokens_of(table.list_of_member(member).filter(finished_at__gte=begin)) for table in ModelUse.__subclasses__()
    )
    return max(0, settings.MODEL_TOKENS_A_DAY - used)


def _tokens_of(rows: QuerySet[Any]) -> int:
    found = rows.aggregate(prompt=Sum("prompt_tokens"), reply=Sum("reply_tokens"))
    return (found["prompt"] or 0) + (found["reply"] or 0)


def price_of(prompt_tokens: int, reply_tokens: int) -> float | None:
    """In the currency of `MODEL_PRICE`; None where there is no price."""
    if settings.MODEL_PRICE is None:
        return None
    per_prompt, per_reply = settings.MODEL_PRICE
    return float(prompt_tokens * per_prompt + reply_tokens * per_reply) / 1_000_000
