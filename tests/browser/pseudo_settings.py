"""The settings of the product in the pseudo-locale, whose catalogs are in the folder PSEUDO_LOCALE."""

import os

from studio.settings import *  # noqa: F403, TID251 (these are the settings, with a few changed below)
from tests.browser.pseudo_locale import LANGUAGE

LANGUAGE_CODE = LANGUAGE
LANGUAGES = [(LANGUAGE, "Pseudo")]
LOCALE_PATHS = [os.environ["PSEUDO_LOCALE"]]
