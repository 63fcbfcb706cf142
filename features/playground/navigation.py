"""The entry of the sidebar."""

from typing import Final

from django.utils.translation import gettext_lazy

from studio.pages.navigation import MONITOR, NavItem, NavSection

SECTIONS: Final = (
    NavSection(
        MONITOR,
        gettext_lazy("Playground"),
        "message-square-text",
        (NavItem(gettext_lazy("Playground"), "studio:playground_show", "p", around=("studio:playground",)),),
    ),
)
