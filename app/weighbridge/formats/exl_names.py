"""Bits per weight as the makers of EXL2 and EXL3 files write them into names: of branches, folders and repositories."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_TOLD = re.compile(
    r"(?:^|[-_ /.])(?P<bits>\d{1,2}(?:\.\d{1,3})?)[-_ ]?bpw(?:[-_ ]?h(?P<head>\d{1,2}))?(?![a-z0-9])", re.IGNORECASE
)
_BRANCH = re.compile(r"^(?P<bits>\d{1,2}_\d{1,2})$")
_METHOD = re.compile(r"(?:^|[-_ /.])(exl[23])(?![a-z0-9])", re.IGNORECASE)
MOST_BITS = 16.0


@dataclass(frozen=True)
class ExlName:
    """What names tell; None where they do not."""

    method: str | None = None
    bits: float | None = None
    head_bits: int | None = None


def exl_of_names(names: Iterable[str]) -> ExlName:
    """What `names` tell, the first that tells it: "exl2" or "exl3", bits per weight, bits of the output."""
    method, bits, head = None, None, None
    for name in names:
        told = _METHOD.search(name)
        method = method or (told[1].lower() if told else None)
        found = _TOLD.search(name) or _BRANCH.match(name)
        if bits is None and found is not None:
            groups = found.groupdict()
            bits = _bits(groups["bits"])
            head = int(groups["head"]) if bits is not None and groups.get("head") else None
    return ExlName(method, bits, head)


def exl_label(bits: float, head_bits: float | None) -> str:
    """ "4.0 bpw h6", "2.06 bpw"."""
    shown = f"{bits:.2f}".rstrip("0")
    label = f"{shown}0 bpw" if shown.endswith(".") else f"{shown} bpw"
    return label if head_bits is None else f"{label} h{head_bits:g}"


def _bits(written: str) -> float | None:
    bits = float(written.replace("_", "."))
    return bits if 0 < bits <= MOST_BITS else None
