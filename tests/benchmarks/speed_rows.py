"""Published speeds as what a user's machine and library would tell of them: a machine, a model, a plan.

A row names a device, a backend, a model by its name, parameters and bytes, the depth of the cache and the speed. A
library reads layers, experts and widths off a header; here they come from the parameters, the bytes and a table of
layers by name. What a row does not tell is left unknown, as on a machine that does not tell it.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path

from weighbridge.estimates.blueprint import Blueprint
from weighbridge.estimates.plan import Plan
from weighbridge.estimates.shape import Layer, Shape
from weighbridge.estimates.use import Use
from weighbridge.estimates.weights import LayerWeights, Weights
from weighbridge.hardware.bandwidth import Card, Table, load_table
from weighbridge.hardware.machine import Bandwidth, Cpu, Device, Machine, Memory, MemoryKind, Sight

GIB, KIB = 1 << 30, 1 << 10
MODELS = Path(__file__).parents[1] / "data" / "speed_models.csv"

_SIGHTS = {"CUDA": "CUDA", "Vulkan": "Vulkan", "ROCm": "ROCm", "Metal": "MTL", "MLX": "MTL", "EXL": "CUDA"}
_ENGINES = {"MLX": "mlx", "EXL": "exllamav2"}
_FORMATS = {"MLX": "mlx", "EXL": "exl2"}
HEADS_A_KEY = 8
USUAL_BITS = 4.8
"""Of one weight, where a row does not tell how large the file is."""

_EXPERT_SHARE = 0.06
"""Of a mixture of experts whose header is not there: most use 4 to 8 of 64 to 128."""

_DENSE_DEPTHS = ((0.2, 24), (0.6, 26), (1.2, 20), (1.7, 26), (3.2, 30), (4, 34), (7, 32), (9, 40), (14, 42), (24, 44),
                 (32, 62), (70, 80), (123, 90), (406, 126))  # fmt: skip
_MIXED_DEPTHS = ((8, 24), (16, 27), (21, 26), (30, 46), (35, 40), (80, 48), (120, 50), (230, 62), (671, 61))
"""Layers by parameters in 1e9: the middle of released models, for names that the table does not have."""

_PROMPT = re.compile(r"\bpp(\d+)")
DEEP = 3000
"""A benchmark that goes deeper than this reads its prompt at that depth too; others read it first."""

_COUNT = re.compile(r"\* ?(\d+)$|^(\d+)x ")
_TOLD = re.compile(r"\(([\d.]+) GiB;.*\)")
_ALIASES = tuple(
    (re.compile(pattern), name)
    for pattern, name in (
        (r"gb10", "NVIDIA GB10"),
        (r"8060s|strix halo|ryzen ai max|framework mainboard", "AMD Radeon 8060S Graphics"),
        (r"780m", "AMD Radeon 780M Graphics"),
        (r"apple m(\d) (pro|max|ultra) (\d+)c", r"Apple M\1 \2 (\3-core GPU)"),
        (r"apple m(\d) (\d+)c", r"Apple M\1 (\2-core GPU)"),
        (r"m(\d) (pro|max|ultra) \(?(\d+)[- ](?:core gpu|gpu core)", r"Apple M\1 \2 (\3-core GPU)"),
        (r"m(\d) (\d+)-core gpu", r"Apple M\1 (\2-core GPU)"),
        (r"m(\d) (pro|max|ultra)", r"Apple M\1 \2"),
        (r"\b(?:nvidia|rtx) a(\d000)", r"RTX A\1"),
        (r"\(nvidia (?:rtx )?(\d{4}(?: ti)?(?: super)?)\)", r"RTX \1"),
        (r"\(amd (\d{4}(?: xt)?)\)", r"RX \1"),
        (r"amd pro w(\d{4})", r"Radeon PRO W\1"),
        (r"ai pro r9700", "Radeon AI PRO R9700"),
        (r"rtx pro 6000 blackwell ws", "RTX PRO 6000 Blackwell Workstation Edition"),
        (r"a100 sxm 80gb", "A100 SXM4 80 GB"),
        (r"h100 pcie 80gb", "H100 PCIe 80 GB"),
        (r"l40s", "L40S"),
        (r"\ba40\b", "A40"),
        (r"rtx 4000 ada", "RTX 4000 Ada Generation"),
        (r"(?:rtx )?3090 24gb", "RTX 3090"),
    )
)
"""How rows name hardware, and how our table does."""

UNKNOWN = Memory(MemoryKind.DEDICATED, None, None)
MANY = 64
"""Cores of a machine of which no row tells them."""

SLOW = Bandwidth(50.0, 50.0, "two channels of DDR4, for what does not fit on a card")


@dataclass(frozen=True)
class Row:
    """One measurement."""

    id: tuple[str, ...]
    hardware: str
    family: str
    backend: str
    model: str
    machine: Machine
    engine_id: str
    blueprint: Blueprint
    plan: Plan
    depth: int
    mixed: bool
    decode_tps: float
    prefill_tps: float | None
    prompt: int
    prompt_after: int

    @property
    def group(self) -> str:
        """The machine that it was measured on: its card or chip, however many of them there were."""
        card = card_of(self.hardware) if self.family != "CPU" else None
        return card.name if card else plain_hardware(self.hardware)


def read_rows(file: Path) -> list[Row]:
    """All rows of a CSV file with the columns of `tests/data/measured.csv`."""
    with file.open(encoding="utf-8", newline="") as lines:
        return [_row(line) for line in csv.DictReader(lines) if line["tg_tps"] and line["params_b"]]


def plain_hardware(name: str) -> str:
    """A device's name in a row without how many there were, and what else was told of it in brackets."""
    alone = _COUNT.sub("", _TOLD.sub("", name)).replace("layer split", "").casefold()
    words = [word for word in alone.split() if word not in ("nvidia", "amd", "radeon", "geforce", "rtx")]
    return " ".join(words)


def _row(line: Mapping[str, str]) -> Row:
    family, mixed, depth = line["family"], _is_mixed(line), int(_number(line, "depth") or 0)
    engine_id = _ENGINES.get(family, "llama_server")
    cache_type = next((kind for kind in ("q8_0", "q4_0") if f"kv_{kind}" in line["flags"]), "f16")
    plan = Plan(
        engine=engine_id,
        context=max(4096, depth + 512),
        key_type=cache_type,
        value_type=cache_type,
        flash_attention="no FA" not in line["source"],
    )
    return Row(
        id=tuple(line[name] for name in ("source", "hardware", "backend", "model", "quant", "depth", "tg_tps")),
        hardware=line["hardware"],
        family=family,
        backend=line["backend"],
        model=line["model"],
        machine=_machine(line, engine_id),
        engine_id=engine_id,
        blueprint=_blueprint(line, mixed),
        plan=plan,
        depth=depth,
        mixed=mixed,
        decode_tps=float(line["tg_tps"]),
        prefill_tps=_number(line, "pp_tps"),
        prompt=int(prompt[1]) if (prompt := _PROMPT.search(line["source"])) else 512,
        prompt_after=depth if depth > DEEP else 0,
    )


def _number(line: Mapping[str, str], name: str) -> float | None:
    """None where the row does not tell."""
    return float(line[name]) if line[name] else None


def _active_b(line: Mapping[str, str]) -> float:
    return _number(line, "active_b") or float(line["params_b"])


def _is_mixed(line: Mapping[str, str]) -> bool:
    """The small Gemmas use less than they hold because of their embeddings."""
    per_layer = re.search(r"-?e[24]b", line["model"].casefold())
    return _active_b(line) < 0.9 * float(line["params_b"]) and per_layer is None


def _blueprint(line: Mapping[str, str], mixed: bool) -> Blueprint:
    """A model of so many equal layers, of which a token touches as many bytes as the row says."""
    parameters_b = float(line["params_b"])
    size_bytes = (_number(line, "file_gib") or parameters_b * 1e9 * USUAL_BITS / 8 / GIB) * GIB
    touched_bytes = (_number(line, "active_gib") or size_bytes / GIB * _active_b(line) / parameters_b) * GIB
    count = layers_of(line["model"], parameters_b, mixed)
    experts = max(0.0, (size_bytes - touched_bytes) / (1 - _EXPERT_SHARE)) if mixed else 0.0
    experts = min(experts, 0.9 * touched_bytes / _EXPERT_SHARE)
    dense = touched_bytes - _EXPERT_SHARE * experts
    layer = LayerWeights(int(dense / count), int(experts / count))
    width = round((_number(line, "kv_kib_per_tok") or 0) * KIB / (4 * count))
    quant = line["quant"].upper().removeprefix("UD-")
    return Blueprint(
        format=_FORMATS.get(line["family"], "gguf"),
        architecture=None,
        shape=Shape((Layer(heads=1, key_width=width, value_width=width),) * count, latent=_is_latent(line["model"])),
        weights=Weights(layers=(layer,) * count, input_bytes=0, embedding_bytes=0, output_bytes=0, tied=False),
        use=Use(
            expert_share=_EXPERT_SHARE if mixed else 1.0,
            active_parameters=int(_active_b(line) * 1e9),
            key_length=_key_length(_number(line, "kv_kib_per_tok") or 0, count),
            type_name=quant,
        ),
    )


def _key_length(kv_kib: float, layers: int) -> int:
    """Elements of a layer's queries, as if of one head: at most `HEADS_A_KEY` heads share a key; 4096 are usual."""
    return min(4096, int(kv_kib * KIB / 4 * HEADS_A_KEY / layers)) if kv_kib else 4096


def _is_latent(model: str) -> bool:
    return any(name in model.casefold() for name in ("glm-4.7-flash", "deepseek-coder-v2", "deepseek-r1-671b"))


def layers_of(model: str, parameters_b: float, mixed: bool) -> int:
    """By the table of names, else the middle of models of that size."""
    name = model.casefold().rpartition("/")[2].replace(":", "-").replace(" ", "-")
    name = re.sub(r"-(instruct|latest)", "", name)
    known = [(len(start), layers) for start, layers in _layer_table() if start in name]
    return max(known)[1] if known else round(_between(_MIXED_DEPTHS if mixed else _DENSE_DEPTHS, parameters_b))


@cache
def _layer_table() -> tuple[tuple[str, int], ...]:
    with MODELS.open(encoding="utf-8", newline="") as lines:
        return tuple((line["starts"], int(line["layers"])) for line in csv.DictReader(lines))


def _between(points: Sequence[tuple[float, int]], x: float) -> float:
    if x <= points[0][0]:
        return points[0][1]
    for (low, start), (high, end) in pairwise(points):
        if x <= high:
            return start + (end - start) * math.log(x / low) / math.log(high / low)
    return points[-1][1]


def _machine(line: Mapping[str, str], engine_id: str) -> Machine:
    """What a user's machine tells; of its own memory's speed these rows say something only where no card is used."""
    sold = _number(line, "mem_bandwidth_gbs")
    if line["family"] == "CPU":
        known = None if sold is None else Bandwidth(sold, sold, "as sold")
        return Machine("linux", Cpu(line["hardware"], None, None, MANY), UNKNOWN, bandwidth=known)
    card = card_of(line["hardware"])
    told = _TOLD.search(line["hardware"])
    memory_bytes = int(float(told[1]) * GIB) if told else card.memory_bytes if card else None
    device = Device(
        id="gpu0",
        vendor=card.vendor if card else "",
        name=card.driver_name if card else line["hardware"],
        memory=Memory(MemoryKind.DEDICATED, memory_bytes, memory_bytes),
        compute_capability=card.compute_capability if card else None,
        bandwidth=_bandwidth(card, sold),
        seen_by=(Sight(engine_id, f"{_SIGHTS.get(line['family'], line['family'])}0"),),
    )
    devices = tuple(replace(device, id=f"gpu{number}") for number in range(_count(line["hardware"])))
    return Machine("linux", Cpu(None, None, None, MANY), UNKNOWN, devices, bandwidth=SLOW)


def _count(hardware: str) -> int:
    found = _COUNT.search(hardware)
    return int(found[1] or found[2]) if found else 1


def _bandwidth(card: Card | None, sold_gbs: float | None) -> Bandwidth | None:
    """That of our table; where that does not know the card, or only a range of several, the row's."""
    if card is not None and card.bandwidth is not None and card.bandwidth.gbs is not None:
        return card.bandwidth
    if sold_gbs is None:
        return None if card is None else card.bandwidth
    return Bandwidth(sold_gbs, sold_gbs, "the row")


@cache
def card_of(hardware: str) -> Card | None:
    """The card that a row means by the name of its hardware."""
    plain = plain_hardware(hardware)
    for pattern, name in _ALIASES:
        if found := pattern.search(hardware.casefold()):
            return _cards().card(found.expand(name))
    return _cards().card(plain)


@cache
def _cards() -> Table:
    return load_table()
