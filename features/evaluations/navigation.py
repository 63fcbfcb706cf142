"""The tab of a capability."""

from typing import Final

from django.utils.translation import gettext_lazy

CAPABILITY_TABS: Final = {
    "evaluation_list": (
        gettext_lazy("Evaluations"),
        ("evaluation_list", "evaluation_case", "evaluation_new", "evaluation_run", "evaluation_suggest"),
    ),
}
