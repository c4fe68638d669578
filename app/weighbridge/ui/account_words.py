"""Who is signed in at the Hub, in words. No Qt here."""

from __future__ import annotations

from weighbridge.base.words import text
from weighbridge.hub.signing_in import WHERE
from weighbridge.hub.token import Token


def account_in_words(token: Token | None, used: bool, user: str | None) -> str:
    """Whose the token is and where it is kept; `used`: the Hub is given it."""
    if token is None:
        return text("Not signed in. Most models need no account.")
    where = text(WHERE[token.origin])
    if not used:
        return text("The token in {where} is not used until the program ends, as you have chosen.", where=where)
    if user is None:
        return text("The Hub is given the token in {where}.", where=where)
    return text("Signed in as {user}, with the token in {where}.", user=user, where=where)
