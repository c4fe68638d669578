"""Files that are loaded beside a model, in words: what each does, and whether it is for the model."""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.base.units import number
from weighbridge.base.words import mark, text
from weighbridge.formats.pairing import Compared, Pairing
from weighbridge.formats.variant import Role

_ROLES: Mapping[Role, str] = {
    Role.PROJECTOR: mark("Projector"),
    Role.DRAFT: mark("Draft model"),
    Role.ADAPTER: mark("Adapter"),
    Role.IMATRIX: mark("Importance matrix"),
}
_AGAINST: Mapping[Compared, str] = {
    Compared.EMBEDDING: mark("For another model: {own} against {wanted} wide"),
    Compared.ARCHITECTURE: mark("For another model: {own} against {wanted}"),
    Compared.LAYERS: mark("For another model: {own} layers against {wanted}"),
    Compared.TOKENIZER: mark("For another model: tokenizer {own} against {wanted}"),
    Compared.VOCABULARY: mark("For another model: {own} tokens against {wanted}"),
    Compared.ENDS: mark("For another model: its texts begin or end with other tokens"),
    Compared.SIZE: mark("No smaller than the model itself"),
}


def role_in_words(role: Role) -> str:
    """ "Draft model"."""
    return text(_ROLES[role])


def pairing_in_words(found: Pairing) -> str:
    """ "For another model: 2,048 against 4,096 wide", "For this model", or that the files do not tell."""
    if found.suits is None or found.by is None:
        return text("The files do not tell whether it is for this model")
    if found.suits:
        return text("For this model")
    return text(_AGAINST[found.by], own=_shown(found.own), wanted=_shown(found.wanted))


def _shown(value: int | str) -> str:
    return number(value) if isinstance(value, int) else value
