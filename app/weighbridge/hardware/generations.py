"""The generation of a chip, on which depends how fast it runs beside its bandwidth.

By what the driver tells where it tells it: NVIDIA's compute capability (CUDA C++ programming guide, "Compute
Capabilities"), or AMD's target (LLVM, "User Guide for AMDGPU Backend", processors). Else by the family in a product's
name. A name is compared whole: one that belongs to no family here has no generation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from weighbridge.hardware.bandwidth import Table
from weighbridge.hardware.rows import plain_name

Families = Sequence[tuple[re.Pattern[str], str]]


def _families(*pairs: tuple[str, str]) -> Families:
    return tuple((re.compile(pattern), generation) for pattern, generation in pairs)


_CAPABILITIES = _families(
    (r"6\.\d", "pascal"),
    (r"7\.[02]", "volta"),
    (r"7\.5", "turing"),
    (r"8\.0", "ampere-hbm"),
    (r"8\.[67]", "ampere"),
    (r"8\.9", "ada"),
    (r"9\.0", "hopper"),
    (r"10\.\d", "blackwell-dc"),
    (r"12\.0", "blackwell"),
    (r"12\.1", "gb10"),
)
_TARGETS = _families(
    (r"gfx(?:80\d|90[0269c])", "gcn"),
    (r"gfx908", "cdna1"),
    (r"gfx90a", "cdna2"),
    (r"gfx94[0-2]", "cdna3"),
    (r"gfx950", "cdna4"),
    (r"gfx101\d|navi1\d", "rdna1"),
    (r"gfx103\d|navi2\d|rembrandt|raphael_mendocino", "rdna2"),
    (r"gfx110[0-2]|navi3\d", "rdna3"),
    (r"gfx1103|phoenix2?|hawk_point|gfx115[023]", "rdna3-apu"),
    (r"gfx1151", "strix-halo"),
    (r"gfx120\d|navi4\d", "rdna4"),
)
_AMD = _families(
    (r"rx (?:4[678]0|5[3-9]0)(?:x|d| xt| 2048sp)?", "gcn"),
    (r"(?:rx )?vega(?: \d+)?|vii|vega frontier edition|pro wx \d{4}|mi(?:25|50|60)", "gcn"),
    (r"rx 5[3-7]00(?:m| xt)?|pro w5[57]00x?", "rdna1"),
    (r"rx 6[3-9][05]0(?:m|s| xt| le| gre|m xt)?|pro w6[3-8]00[mx]?|pro v620|6[1-8]0m", "rdna2"),
    (r"rx 7[3-9][05]0(?:m|s| xt| xtx| gre|m xt)?|pro w7[57689]00|pro w7800 48gb|pro v710", "rdna3"),
    (r"7[4-8]0m|8[2-9]0m", "rdna3-apu"),
    (r"80[2-6]0s|ryzen ai max\+?(?: pro)? \d{3}", "strix-halo"),
    (r"rx 90[67]0(?: xt| gre)?|ai pro r9[67]00s?d?", "rdna4"),
    (r"mi100", "cdna1"),
    (r"mi2[15]0x?(?: oam| vf)?", "cdna2"),
    (r"mi3(?:00[xac]|08x|25x)(?: oam| vf)?", "cdna3"),
    (r"mi35[05]x(?: oam| vf)?", "cdna4"),
)
_INTEL = _families(
    (r"arc (?:pro )?a\d{2,3}m?", "alchemist"),
    (r"arc (?:pro )?b\d{2,3}m?", "battlemage"),
    (r"arc|arc 1[34]0[tv](?: gpu)?|arc graphics 130v / 140v|iris xe|uhd graphics 7\d\d", "xe"),
)
_APPLE = re.compile(r"(?:apple )?(m\d+)(?: pro| max|( ultra))?(?: \(\d+-core gpu\))?")
_BRACKET = re.compile(r"\((?:radv )?(\w+)(?:,[^()]*)?\)$")
_LINES = ("radeon ", "instinct ")


def generation(vendor: str, name: str, compute_capability: str | None = None, table: Table | None = None) -> str | None:
    """The generation of a card, or None where it is not known.

    `vendor` and `name` are those of a `Device`. `table` knows the compute capability of NVIDIA's products by name,
    where the driver's is not told.
    """
    if vendor == "nvidia":
        capability = compute_capability or (table.capability_of(name) if table is not None else None)
        return _first(_CAPABILITIES, capability or "")
    if vendor == "amd":
        return _first(_TARGETS, compute_capability or _target(name)) or _first(_AMD, _amd_name(name))
    if vendor == "intel":
        return _first(_INTEL, plain_name(name))
    return _apple(name) if vendor == "apple" else None


def _first(families: Families, text: str) -> str | None:
    return next((known for pattern, known in families if pattern.fullmatch(text)), None)


def _target(name: str) -> str:
    """The chip in brackets that Mesa's driver puts behind the name ("(RADV NAVI31)")."""
    found = _BRACKET.search(name.casefold())
    return found[1] if found else ""


def _amd_name(name: str) -> str:
    """A processor is named with its graphics part behind it ("AMD Ryzen 7 8745H w/ Radeon 780M Graphics")."""
    plain = plain_name(name).rpartition(" w/ ")[2]
    for line in _LINES:
        plain = plain.removeprefix(line)
    return plain


def _apple(name: str) -> str | None:
    found = _APPLE.fullmatch(plain_name(name))
    return f"{found[1]}-ultra" if found and found[2] else found[1] if found else None
