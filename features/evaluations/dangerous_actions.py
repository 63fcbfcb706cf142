"""The forms of evaluations that an open browser must not be enough for."""

from typing import Final

from studio.pages.dangerous_actions import DangerousAction

ACTIONS: Final = {
    "evaluation_rule_set": DangerousAction("publishing under another rule"),
    "evaluation_rule_drop": DangerousAction("publishing without the rule"),
}
