"""What a model is called, whoever has quantised it and into whatever format. Pure.

Names are a habit, not a specification: two that come out alike are most likely one model, and are told so as a guess.
"""

from __future__ import annotations

import re

from weighbridge.formats.quant import without_quant

_SEPARATORS = re.compile(r"[-._ ]+")
_FORMATS = re.compile(
    r"(?:^|[-._ ]+)(?:gguf|mlx|exl[23]|\d[\d._-]*bpw(?:[-._ ]+h\d+)?|[2-8]bit(?:[-._ ]+g\d+)?|q[2-8]|dwq"
    r"|awq|gptq|fp8|imatrix|i1|quantized)(?=$|[-._ ])",
    re.IGNORECASE,
)


def plain_name(name: str) -> str:
    """`name` without quantisation and format: "Qwen3-8B" of "Qwen3-8B-i1-GGUF". Empty where there is nothing else."""
    return _FORMATS.sub("", without_quant(name)).strip("-._ ")


def family_name(name: str) -> str:
    """The same whatever its case and separators are: names that are alike in this name one model."""
    return _SEPARATORS.sub("-", plain_name(name)).casefold()
