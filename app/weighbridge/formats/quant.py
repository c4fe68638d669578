"""The quantisation that a file's name claims.

Names are a habit, not a specification: the last tag counts (a base model's name may hold one), the makers' `UD-`, `_L`
and `_XL` are kept, and a list of shares ("55IQ2_XXS-34Q2_K") is named by its greatest part.
"""

from __future__ import annotations

import re

_TAG = (
    r"IQ[1-9]_(?:XXS|XS|NL|KSS|KS|KT|KL|K|S|M)(?:_R[48])?(?:_(?:XL|L))?"
    r"|Q[1-9]_K(?:_(?:XXL|XL|L|M|S))?(?:_R[48])?"
    r"|Q[1-9]_[01](?:_[48]_[48])?"
    r"|TQ[12]_0|MXFP4(?:_MOE)?|NVFP4|BF16|FP?16|FP?32"
)
_LABEL = re.compile(rf"(?:^|[-._ ])((?:UD-)?(?:{_TAG}))(?=$|[-._ ])", re.IGNORECASE)
_SHARE = re.compile(rf"(?:^|[-._ ])(\d{{1,2}})({_TAG})(?=$|[-._ ])", re.IGNORECASE)
_SPELLINGS = {"FP16": "F16", "FP32": "F32"}


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
