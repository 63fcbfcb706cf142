"""The forms of the Studio that an open browser must not be enough for, in one list.

A form of this list is taken only from somebody who has shown recently who they are: `permissions` asks
`reauthentication` before each POST. A new page with a form is added here or to the list of ordinary ones in its test.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from django.utils.module_loading import import_string

from registry.common.actors import Actor
from registry.core import queries
from registry.feature import installed_features
from registry.publishing.quarantine import evaluate_end, is_quarantine_open

if TYPE_CHECKING:
    from studio.pages.permissions import StudioRequest

Applies = Callable[["StudioRequest", Mapping[str, Any]], bool]


def _always(request: StudioRequest, arguments: Mapping[str, Any]) -> bool:  # noqa: ARG001 (one of several)
    return True


def _by_admin(request: StudioRequest, arguments: Mapping[str, Any]) -> bool:  # noqa: ARG001 (one of several)
    """Others are refused by the page itself."""
    return request.user.can_administer


def _ends_quarantine_alone(request: StudioRequest, arguments: Mapping[str, Any]) -> bool:
    """An admin who published or edited what is quarantined, where nobody else can end it."""
    capability = queries.get_capability(arguments["capability_id"])
    by = Actor("operator", request.user.get_username())
    return is_quarantine_open(capability) and evaluate_end(capability, by).is_alone


@dataclass(frozen=True, slots=True)
class DangerousAction:
    """What a form gives to the person who sends it; `applies` takes the request and the arguments of the view, and says
    whether this form does that, where the same page has harmless ones."""

    gives: str
    applies: Applies = _always


# By the name of the URL.
_OF_CORE: Final[dict[str, DangerousAction]] = {
    "agent_key_list": DangerousAction("a new key"),
    "capability_live": DangerousAction("a new key", _by_admin),
    "agent_key_change": DangerousAction("rights of a key"),
    "agent_key_rotate": DangerousAction("the secret of a key"),
    "operator_list": DangerousAction("a new member"),
    "operator_reset": DangerousAction("a link to choose a member's password"),
    "operator_details": DangerousAction("the address to which e-mail goes"),
    "operator_role": DangerousAction("a role"),
    "operator_disable": DangerousAction("a registry without this member"),
    "operator_enable": DangerousAction("an account that signs in again"),
    "team_add_member": DangerousAction("what belongs to the team"),
    "team_remove_member": DangerousAction("what belongs to the team"),
    "team_own": DangerousAction("the capability to the team"),
    "team_disown": DangerousAction("the capability to everybody with the role"),
    "team_delete": DangerousAction("a registry without the team"),
    "release_rule_list": DangerousAction("publishing under another rule"),
    "release_rule_drop": DangerousAction("publishing without the rule"),
    "capability_restore": DangerousAction("what may do harm, by one person", _ends_quarantine_alone),
    "backup_show": DangerousAction("everything, with secrets"),
    "app_enable": DangerousAction("a second factor"),
    "app_disable": DangerousAction("an account without a second factor"),
    "passkey_add": DangerousAction("a passkey, which signs in"),
    "passkey_remove": DangerousAction("an account without a second factor"),
    "recovery_codes_replace": DangerousAction("codes that sign in"),
}
_OF_FEATURES: Final = (import_string(one.dangerous_actions) for one in installed_features() if one.dangerous_actions)
DANGEROUS_ACTIONS: Final[dict[str, DangerousAction]] = dict(ChainMap(*_OF_FEATURES, _OF_CORE))
