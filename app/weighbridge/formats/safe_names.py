"""Names of files that are safe to write on every system, whatever a repository calls them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from weighbridge.base.errors import BadFile

MAX_PART_BYTES = 240
_FORBIDDEN = frozenset('<>:"|?*\\')
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_DEVICE = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|clock\$|(com|lpt)[0-9¹²³])( *\.|$)", re.IGNORECASE)


def is_safe(path: str) -> bool:
    """Whether each part of `path` can be the name of a file or folder, everywhere, and leads nowhere else."""
    return all(map(_is_safe_part, path.split("/")))


def refusals(paths: Iterable[str]) -> dict[str, BadFile]:
    """The paths that must not be written, each with its reason: unsafe, or the same as another but for its case."""
    known: dict[str, list[str]] = {}
    refused: dict[str, BadFile] = {}
    for path in paths:
        if not is_safe(path):
            refused[path] = BadFile("file.unsafe_name", name=path[:MAX_PART_BYTES])
        else:
            known.setdefault(unicodedata.normalize("NFC", path.casefold()), []).append(path)
    for twins in known.values():
        if len(twins) > 1:
            refused.update({path: BadFile("file.name_twin", names=twins) for path in twins})
    return refused


def _is_safe_part(part: str) -> bool:
    if part in ("", ".", "..") or part[-1] in ". ":
        return False
    if _FORBIDDEN & set(part) or any(unicodedata.category(letter) in _UNSEEN for letter in part):
        return False
    return len(part.encode("utf-8")) <= MAX_PART_BYTES and _DEVICE.match(part) is None
