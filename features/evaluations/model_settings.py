"""The model of the settings, from a variable or a page (docs/contract.md 3.6), and what it may cost."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.db.models import QuerySet, Sum
from django.utils import timezone
from django.utils.module_loading import import_string

from capability_client.client.transport import SyncWire
from capability_client.evaluation.model_port import ModelKind, ModelSettings, VendorModel
from capability_rules.errors import InvalidRequest
from features.evaluations.models import ModelUse
from registry.common.net.guarded_client import locate_host
from registry.core.chosen_settings import get_setting, is_set_by_server, read_chosen
from registry.feature import installed_features
from registry.models import Operator

BUDGET_SPENT: Final = "Your budget of tokens for today is used up"
NO_MODEL: Final = "No model is connected"
NETWORKS: Final = "MODEL_ALLOWED_NETWORKS"


def is_model_of_server() -> bool:
    """Whether the model is the one of the variables, which bring its kind, names and key."""
    return is_set_by_server("MODEL_URL") or not read_chosen().get("MODEL_URL")


def _of_model(name: str) -> Any:
    return getattr(settings, name) if is_model_of_server() else read_chosen().get(name)


def get_model_url() -> str:
    """The address of the model's server; empty where there is none."""
    return _of_model("MODEL_URL") or ""


def is_model_set() -> bool:
    """Whether runs are possible."""
    return bool(list_models())


def list_models() -> list[str]:
    """Their names, the first being the one that is offered first."""
    return list(_of_model("MODEL_NAMES") or ()) if get_model_url() else []


def list_admins() -> list[str]:
    """Whom to ask for a model: the names of three active admins."""
    admins = Operator.objects.filter(role=Operator.Role.ADMIN, is_active=True).order_by("username")
    return [one.get_full_name() or one.get_username() for one in admins[:3]]


def get_model_kind() -> ModelKind:
    """The form of the interface of all of them."""
    return "anthropic" if _of_model("MODEL_KIND") == "anthropic" else "openai"


def require_models(names: Sequence[str]) -> None:
    """Raises `InvalidRequest` where there is no model, or one of these is not there."""
    if not is_model_set():
        raise InvalidRequest(NO_MODEL)
    unknown = next((name for name in names or [""] if name not in list_models()), None)
    if unknown is not None:
        raise InvalidRequest(f"There is no model '{unknown[:80]}': expected one of {', '.join(list_models())}")


def get_model(name: str) -> ModelSettings:
    """Where the model is. The key goes nowhere but into the request. Raises `RegistryError` where the key of a page can
    no longer be used."""
    return ModelSettings(get_model_url(), name, get_model_kind(), _get_key())


def _get_key() -> str:
    if is_model_of_server():
        return str(settings.MODEL_API_KEY)
    functions = [feature.model_key for feature in installed_features() if feature.model_key]
    return str(import_string(functions[0])(get_model_url())) if functions else ""


def open_model(name: str, **callbacks: Any) -> VendorModel:
    """The model of this name, with callbacks as `VendorModel` has them; one whose address is from a page is reached
    at checked addresses only. Raises as `get_model` does."""
    where = get_model(name)
    checked = partial(locate_host, scheme=urlsplit(where.url).scheme, setting=NETWORKS)
    wire = SyncWire() if is_model_of_server() else SyncWire(locate=checked)
    return VendorModel(where, wire, **callbacks)


def tokens_left(member: str) -> int | None:
    """How many tokens a member (`str` of the actor) may still use today (UTC); None where nothing limits them.

    Each member has a budget of their own: nobody's runs use up another's.
    """
    most = get_setting("MODEL_TOKENS_A_DAY")
    if not most:
        return None
    begin = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    used = sum(
        _tokens_of(table.list_of_member(member).filter(finished_at__gte=begin)) for table in ModelUse.__subclasses__()
    )
    return max(0, int(most) - used)


def _tokens_of(rows: QuerySet[Any]) -> int:
    found = rows.aggregate(prompt=Sum("prompt_tokens"), reply=Sum("reply_tokens"))
    return (found["prompt"] or 0) + (found["reply"] or 0)


def price_of(prompt_tokens: int, reply_tokens: int) -> float | None:
    """In the currency of the price; None where there is none."""
    price = get_setting("MODEL_PRICE")
    if price is None:
        return None
    per_prompt, per_reply = price
    return float(prompt_tokens * per_prompt + reply_tokens * per_reply) / 1_000_000
