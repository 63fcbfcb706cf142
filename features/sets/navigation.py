"""The entries of the sidebar."""

from typing import Final

from django.utils.translation import gettext_lazy

from studio.pages.navigation import BUILD, NavItem, NavSection

SECTIONS: Final = (
    NavSection(
        BUILD,
        gettext_lazy("Sets"),
        "layers",
        (
            NavItem(gettext_lazy("Sets"), "studio:set_list", "1", around=("studio:set_",)),
            NavItem(gettext_lazy("Connect"), "studio:connect_show", "2", around=("studio:connect",)),
        ),
    ),
)
