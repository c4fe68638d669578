"""What removing a model means, as it is asked. No Qt here."""

from __future__ import annotations

from weighbridge.base.units import size
from weighbridge.base.words import plural, text
from weighbridge.library.removal import Going, Removal, Staying, Why

_MOST = 4
"""So many names of files are said; the rest is counted."""


def removal_in_words(removal: Removal) -> str:
    """What goes to the bin and what that frees; what stays, and why."""
    files, links = [each for each in removal.going if not each.is_link], [g for g in removal.going if g.is_link]
    said = [text("Remove {model}?", model=removal.model.title)]
    if files:
        said.append(text("To the bin: {names}.", names=_names(files)))
        said.append(text("Emptying the bin frees {size}.", size=size(removal.freed_bytes)))
    if links:
        said.append(text("Only links are deleted: {names}; what they lead to stays.", names=_names(links)))
    return " ".join([*said, *map(_stays, removal.staying)])


def _names(going: list[Going]) -> str:
    names = [each.path.name for each in going[:_MOST]]
    left = len(going) - _MOST
    if left > 0:
        names.append(plural("{count} more file", "{count} more files", left))
    return ", ".join(names)


def _stays(staying: Staying) -> str:
    name = staying.path.name
    if staying.why is Why.SHARED:
        return text("{name} stays: it belongs to {models} too.", name=name, models=", ".join(staying.models))
    return text("{name} stays: it does not lie in Weighbridge's own folder.", name=name)
