"""Every text that a person reads, from one gettext catalogue.

English is the source. `text("Stop")` and `plural("{count} file", "{count} files", n)` translate; `mark("...")` only
marks a text for extraction, where it is stored now and translated when shown. Values are put in after translation, by
name, so that a translator may move them. `python packaging/translate.py` keeps the catalogues. The language is the one
piece of state of this module: it is a property of the process, chosen once at the start by `use_language`.
"""

from __future__ import annotations

import gettext
import locale
import os

from weighbridge_resources import path

LANGUAGES = ("en", "es")
DOMAIN = "weighbridge"

_language = "en"
_catalogue: gettext.NullTranslations = gettext.NullTranslations()


def use_language(language: str | None) -> str:
    """Choose the language ("en", "es"; None: the system's, English where we have no other). Returns the one in use."""
    global _language, _catalogue  # noqa: PLW0603 - the one piece of state, see above
    _language = language if language in LANGUAGES else system_language()
    _catalogue = gettext.translation(DOMAIN, path("i18n"), languages=[_language], fallback=True)
    return _language


def language() -> str:
    """The language in use."""
    return _language


def system_language() -> str:
    """The system's language where we speak it, else English."""
    told = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or ""
    code = (told or locale.getlocale()[0] or "")[:2].lower()
    return code if code in LANGUAGES else "en"


def text(source: str, **values: object) -> str:
    """`source` in the language in use, with `values` put in."""
    translated = _catalogue.gettext(source) if source else ""  # the catalogue's own head is filed under ""
    return translated.format(**values) if values else translated


def plural(one: str, many: str, count: int, /, **values: object) -> str:
    """`one` or `many` as `count` asks, in the language in use. `{count}` is there unless given otherwise."""
    return _catalogue.ngettext(one, many, count).format(**{"count": count, **values})


def mark(source: str) -> str:
    """`source` unchanged: marked for extraction, to be given to `text` when it is shown."""
    return source
