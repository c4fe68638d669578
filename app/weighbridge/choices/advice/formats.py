"""Which format and how many bits: the format that the engine has kernels for here, and the most bits that fit. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from weighbridge.choices.advice.advice import Action, ActionKind, Point, Reason, Topic
from weighbridge.choices.advice.answers import OPEN, Hardware, Need
from weighbridge.choices.advice.candidate import Candidate
from weighbridge.choices.advice.case import Case
from weighbridge.choices.advice.format_names import format_name
from weighbridge.choices.advice.hindrances import has_at_least
from weighbridge.hub.hits import FORMATS, Query

_PLAIN = ("exl3", "exl2", "mlx", "openvino", "gguf", "onnx", "mlc")
"""Formats of engines for one desk, the one with the best kernels first."""

_SERVED = ("nvfp4", "fp8", "awq", "gptq", "safetensors")
"""Formats of engines that serve, the one for the newest cards first."""

_PORTABLE = ("gguf", "safetensors")
"""What many engines run, and what others are made from."""

_TASKS = {Need.VISION: "image-text-to-text", Need.EMBEDDINGS: "feature-extraction"}
_SMALLEST = 0.25
"""A search is for models from so much of the largest that fits on."""


@dataclass(frozen=True)
class Bits:
    """A label with the bits that a weight takes in it, its scales counted."""

    label: str
    bits: float


QUANTS: Mapping[str, tuple[Bits, ...]] = {
    "gguf": (Bits("Q8_0", 8.5), Bits("Q6_K", 6.5625), Bits("Q4_K_M", 4.85)),
    "exl3": (Bits("8.0 bpw", 8.0), Bits("6.0 bpw", 6.0), Bits("4.0 bpw", 4.0)),
    "exl2": (Bits("8.0 bpw", 8.0), Bits("6.0 bpw", 6.0), Bits("4.0 bpw", 4.0)),
    "mlx": (Bits("8bit", 8.5), Bits("6bit", 6.5), Bits("4bit", 4.5)),
    "openvino": (Bits("int8", 8.0), Bits("int4", 4.25)),
    "onnx": (Bits("int8", 8.0), Bits("int4", 4.25)),
    "nvfp4": (Bits("NVFP4", 4.5),),
    "mxfp4": (Bits("MXFP4", 4.25),),
    "fp8": (Bits("FP8", 8.0),),
    "awq": (Bits("AWQ 4 bit", 4.25),),
    "gptq": (Bits("GPTQ 4 bit", 4.25),),
    "safetensors": (Bits("BF16", 16.0),),
}
"""What a format is offered in, the most bits first: of GGUF by ggml's blocks, of a Q4_K_M by llama.cpp's own table of
quantisations; of MLX, AWQ and GPTQ with the scales of groups of 64 and 128; of MXFP4 and NVFP4 by their blocks.
"""


def format_of(case: Case, engine: Candidate) -> str | None:
    """The format to look for: the one that was asked for, else the one for which the engine has kernels here."""
    if case.answers.format != OPEN:
        return case.answers.format
    order = _SERVED if engine.known.serves and "exl3" not in engine.formats else _PLAIN
    able = (each for each in (*order, *_SERVED, *_PLAIN) if each in engine.formats)
    return next((each for each in able if _has_kernels(case, each)), None)


def _has_kernels(case: Case, format_id: str) -> bool:
    """Whether the cards run the format and multiply in it themselves, of which what is not known does not count."""
    needs, least = case.known.needs.get(format_id, ""), case.known.kernels.get(format_id, "")
    if case.fast.vendor == "nvidia" and has_at_least(case.fast.capability, needs) is False:
        return False
    if not least:
        return True
    if case.fast.vendor == "nvidia":
        return has_at_least(case.fast.capability, least) is True
    return case.answers.hardware is Hardware.AMD_SERVER and format_id == "fp8"


def format_point(case: Case, engine: Candidate, format_id: str) -> Point:
    """The format, why, and a search for models in it."""
    values = {"format": format_id, "engine": engine.title}
    return Point(
        Topic.FORMAT,
        Reason("take_format", values),
        tuple(_why(case, engine, format_id)),
        tuple(_against(case, format_id)),
        Action(ActionKind.FIND, format_id, query=query_for(case, format_id)),
    )


def _why(case: Case, engine: Candidate, format_id: str) -> Iterator[Reason]:
    if format_name(format_id) != engine.title:
        yield Reason("format_of_engine", {"format": format_id, "engine": engine.title})
    least = case.known.kernels.get(format_id, "")
    if least and case.fast.vendor == "nvidia" and has_at_least(case.fast.capability, least):
        yield Reason("kernel", {"format": format_id, "capability": case.fast.capability, "least": least})
    elif engine.known.serves and case.fast.vendor == "nvidia" and case.answers.format == OPEN:
        least = case.known.kernels["fp8"]
        if has_at_least(case.fast.capability, least) is not True:
            yield Reason("no_fp8", {"capability": case.fast.capability, "least": least})


def _against(case: Case, format_id: str) -> Iterator[Reason]:
    least = case.known.kernels.get(format_id, "")
    if least and case.fast.vendor == "nvidia" and has_at_least(case.fast.capability, least) is False:
        values = {"device": case.fast.name, "capability": case.fast.capability, "least": least}
        yield Reason("no_kernel", {"format": format_id, **values})
    if format_id not in _PORTABLE:
        yield Reason("not_portable", {"format": format_id})


def quant_point(case: Case, format_id: str) -> Point | None:
    """How many bits: the most that fit, with how large a model may be for each; None for a format without a table."""
    quants = QUANTS.get(format_id)
    if quants is None:
        return None
    room = case.room_bytes
    sizes = tuple((one.label, one.bits, None if room is None else int(room * 8 / one.bits)) for one in quants)
    what = Reason(
        "one_quant" if len(quants) == 1 else "bits_offered" if room is None else "most_bits",
        {"format": format_id, "sizes": sizes},
    )
    cost = Reason("bits_cost", {"least": quants[-1].bits})
    why = (Reason("room", {"room_bytes": room, "device": case.fast.name}), cost)
    lossless = Action(ActionKind.FIND, format_id, query=query_for(case, format_id, quants[0].bits))
    return Point(Topic.QUANT, what, why, (), lossless if room and len(quants) > 1 else None)


def query_for(case: Case, format_id: str, bits: float | None = None) -> Query:
    """A search for models in the format, from a quarter of the largest that fits up to it: with the fewest bits that
    the format is offered in, or with so many.
    """
    task = next((_TASKS[need] for need in _TASKS if need in case.answers.needs), "text-generation")
    told = {"format": format_id, "words": ""} if format_id in FORMATS else {"format": None, "words": _word(format_id)}
    quants, room = QUANTS.get(format_id), case.room_bytes
    if quants is None or not room:
        return Query(task=task, **told)
    most = int(room * 8 / (bits or quants[-1].bits))
    return Query(task=task, least_parameters=int(most * _SMALLEST), most_parameters=most, **told)


def _word(format_id: str) -> str:
    """What repositories of the format are called by; those of plain weights by nothing."""
    return "" if format_id == "safetensors" else format_id
