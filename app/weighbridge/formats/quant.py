"""The quantisation that a file's name claims, and which of two claims to believe.

Names are a habit, not a specification: the last tag counts (a base model's name may hold one), the makers' `UD-`, `_L`
and `_XL` are kept, and a list of shares ("55IQ2_XXS-34Q2_K") is named by its greatest part.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from weighbridge.formats.ggml_types import FILE_TYPES

_TAG = (
    r"IQ[1-9]_(?:XXS|XS|NL|KSS|KS|KT|KL|K|S|M)(?:_R[48])?(?:_(?:XL|L))?"
    r"|Q[1-9]_K(?:_(?:XXL|XL|L|M|S))?(?:_R[48])?"
    r"|Q[1-9]_[01](?:_[48]_[48])?"
    r"|TQ[12]_0|MXFP4(?:_MOE)?|NVFP4|BF16|FP?16|FP?32"
)
_LABEL = re.compile(rf"(?:^|[-._ ])((?:UD-)?(?:{_TAG}))(?=$|[-._ ])", re.IGNORECASE)
_SHARE = re.compile(rf"(?:^|[-._ ])(\d{{1,2}})({_TAG})(?=$|[-._ ])", re.IGNORECASE)
_SPELLINGS = {"FP16": "F16", "FP32": "F32"}
_BITS = re.compile(r"\d+")

REMOVED = re.compile(r"Q4_0_[48]_[48]")
"""Types that llama.cpp once wrote and does not read any more."""


def quant_of_name(stem: str) -> str | None:
    """The label in a file's stem ("X-F32-Q2_K" is "Q2_K"), or None where there is none."""
    shares: list[tuple[str, str]] = _SHARE.findall(stem)
    if len(shares) > 1:
        _, label = max(shares, key=lambda share: int(share[0]))
        return f"{label.upper()} mix"
    labels: list[str] = _LABEL.findall(stem)
    if not labels:
        return None
    label = labels[-1].upper()
    return _SPELLINGS.get(label, label)


def without_quant(stem: str) -> str:
    """`stem` without its last label: what it is the quantisation of."""
    labels = list(_LABEL.finditer(stem))
    return (stem[: labels[-1].start()] + stem[labels[-1].end() :]).strip("-._ ") if labels else stem


def quant_of_header(metadata: Mapping[str, object]) -> str | None:
    """The label that `general.file_type` stands for: what most tensors have, as far as whoever wrote it knew."""
    file_type = metadata.get("general.file_type")
    return FILE_TYPES.get(file_type) if isinstance(file_type, int) and not isinstance(file_type, bool) else None


def believed(by_name: str | None, by_header: str | None, bits: float | None) -> tuple[str | None, bool]:
    """The label to show, and whether it is guessed: told by a name alone, and by no number.

    A name beats a header, unless `bits` for each weight, where known, show it to be impossible and the header not.
    """
    if by_name is None or by_name == by_header:
        return by_header, False
    sound = bits is not None and is_plausible(by_name, bits)
    if bits is not None and not sound and by_header is not None and is_plausible(by_header, bits):
        return by_header, False
    return by_name, not sound


def is_plausible(label: str, bits: float) -> bool:
    """Whether a file so labelled can have `bits` for each weight.

    A label's number is what most weights have at least; small models keep many of theirs in wider types.
    """
    found = _BITS.search(label)
    if found is None:
        return True
    told = int(found[0])
    return told * 0.98 <= bits <= told * 1.5 + 1.5
