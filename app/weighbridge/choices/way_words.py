"""Ways out of a load that does not fit, and what a change of a setting comes to, in words."""

from __future__ import annotations

from weighbridge.base.units import THIN, number, size, tokens
from weighbridge.base.words import plural, text
from weighbridge.choices.speed_words import speed_in_words
from weighbridge.choices.ways import Way, WayKind
from weighbridge.choices.words import verdict_in_words
from weighbridge_engines.api import Load

MINUS = "\u2212"
_HARDLY_TPS = 0.05


def way_in_words(way: Way) -> str:
    """ "KV cache in q8_0: Fits · 1.2 GiB left, 58 – 66 tok/s"."""
    verdict, speeds = verdict_in_words(way.choice.fit), way.choice.speeds
    if speeds is None or speeds.decode is None:
        return text("{change}: {verdict}", change=given_up_in_words(way), verdict=verdict)
    speed = speed_in_words(speeds.decode)
    return text("{change}: {verdict}, {speed}", change=given_up_in_words(way), verdict=verdict, speed=speed)


def given_up_in_words(way: Way) -> str:
    """What is given up: "A context of 8,192 tokens"."""
    load, model = way.choice.load, way.choice.model
    if way.kind is WayKind.TOGETHER:
        return _together(load)
    if way.kind is WayKind.CONTEXT:
        return text("A context of {tokens}", tokens=tokens(load.context))
    if way.kind is WayKind.CACHE:
        return text("KV cache in {type}", type=load.key_type)
    if way.kind is WayKind.LAYERS:
        count = load.gpu_layers or 0
        return plural("{count} layer on cards", "{count} layers on cards", count, count=number(count))
    return text("{model} instead, {size}, which is here", model=model.id, size=size(model.size_bytes))


def _together(load: Load) -> str:
    """ "Layers left to the engine, KV cache in q8_0, a context of 8,192 tokens"."""
    said = [text("Layers left to the engine")]
    if load.key_type is not None:
        said.append(text("KV cache in {type}", type=load.key_type))
    said.append(text("a context of {tokens}", tokens=tokens(load.context)))
    return ", ".join(said)


def memory_change_in_words(change_bytes: int | None) -> str:
    """ "+1.2 GiB"; "" for none."""
    if not change_bytes:
        return ""
    return f"{MINUS if change_bytes < 0 else '+'}{size(abs(change_bytes))}"


def speed_change_in_words(change_tps: float | None) -> str:
    """ "−3 tok/s"; "" for none that could be seen."""
    if change_tps is None or abs(change_tps) < _HARDLY_TPS:
        return ""
    digits = 1 if abs(change_tps) < 10 else 0
    return f"{MINUS if change_tps < 0 else '+'}{number(abs(change_tps), digits)}{THIN}tok/s"
