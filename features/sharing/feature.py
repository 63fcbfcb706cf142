"""Install codes, share links, and the page of a capability on who sees it."""

from typing import Final

from registry.common.event_type import EventType
from registry.feature import Feature

_VERBS: Final = ("install_code.redeem", "install_code.rotate", "share_link.create", "share_link.revoke")

FEATURE: Final = Feature(
    name="sharing",
    events=tuple(map(EventType, _VERBS)),
    opened="features.sharing.install_codes.list_opened",
    shared_readers="features.sharing.shared_readers.find_shared_reader",
    agent_api={"capability_install": "features.sharing.api.capability_install"},
    pages="features.sharing.urls",
    dangerous_actions="features.sharing.dangerous_actions.ACTIONS",
    rights=("features.sharing.rights.REDEMPTIONS", "features.sharing.rights.LINKS"),
    secret_fields=("token_hash",),
    rows_kept={
        "registry_sharelink": "share links",
        "registry_installcoderedemption": "keys that have redeemed install codes",
    },
)
