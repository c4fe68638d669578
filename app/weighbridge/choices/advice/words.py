"""Advice in words, for a window, a terminal and JSON."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from typing import Any

from weighbridge.base.explain import explain_code
from weighbridge.base.units import bandwidth, number, size, tokens
from weighbridge.base.words import mark, text
from weighbridge.choices.advice.advice import Action, ActionKind, Reason, Topic
from weighbridge.choices.advice.answers import Link, ModelKind, Need
from weighbridge.choices.advice.format_names import format_name
from weighbridge.choices.advice.question_words import name_of_answer
from weighbridge.choices.advice.sentences import SENTENCES, UNKNOWN
from weighbridge.choices.setting_words import setting_name
from weighbridge.choices.speed_words import speed_in_words
from weighbridge.choices.words import count_in_words, verdict_in_words, where_in_words
from weighbridge.hardware.machine import VENDORS
from weighbridge.hub.hits import Query
from weighbridge.running.endpoints.presets import presets

_TOPICS: Mapping[Topic, str] = {
    Topic.HARDWARE: mark("Hardware"),
    Topic.ENGINE: mark("Engine"),
    Topic.FORMAT: mark("Format"),
    Topic.QUANT: mark("Quantisation"),
    Topic.MODEL: mark("Model"),
    Topic.CONTEXT: mark("Context"),
    Topic.CACHE: mark("KV cache"),
    Topic.SLOTS: mark("At once"),
    Topic.LAYERS: mark("Layers"),
    Topic.SPLIT: mark("Several cards"),
    Topic.PREFIX: mark("Prefixes"),
    Topic.BATCH: mark("Batch"),
    Topic.RESERVED: mark("Card memory"),
    Topic.FLEET: mark("Fleet"),
}
_SYSTEMS = {"linux": "Linux", "windows": "Windows", "darwin": "macOS"}
_TOKENS = ("context", "total", "longest", "trained")
_SIZES = ("bytes", "size_bytes", "room_bytes", "kv_bytes", "model_bytes", "short_bytes")
_SPEEDS = ("gbs", "fast_gbs", "system_gbs")


def topic_in_words(topic: Topic) -> str:
    """ "Engine"."""
    return text(_TOPICS[topic])


def reason_in_words(reason: Reason) -> str:
    """The sentence for a reason, with its numbers; another where one of them is not known."""
    special = _SPECIAL.get(reason.code)
    if special is not None:
        return special(reason.values)
    without = any(value is None for value in reason.values.values())
    source = UNKNOWN.get(reason.code, SENTENCES[reason.code]) if without else SENTENCES[reason.code]
    return text(source, **{name: _shown(name, value) for name, value in reason.values.items()})


def action_in_words(action: Action) -> str:
    """What a button says: "Install llama.cpp CUDA 12", "Find models in EXL3, up to 23.9 B"."""
    most = action.query.most_parameters if action.query is not None else None
    sources: Mapping[ActionKind, str] = {
        ActionKind.INSTALL_BUILD: mark("Install {title}"),
        ActionKind.USE_BUILD: mark("Use {title}"),
        ActionKind.INSTALL: mark("Copy how to install {title}"),
        ActionKind.FIND: mark("Find models in {format}, up to {most}") if most else mark("Find models in {format}"),
        ActionKind.LOAD: mark("Load by {by}") if action.by else mark("Load {title}"),
        ActionKind.CHANGE: mark("Set {changes}"),
        ActionKind.ATTACH: mark("Add {title} by its address"),
        ActionKind.RUN: mark("Copy the command"),
        ActionKind.MEASURE: mark("Measure (under 3 s)"),
    }
    values = {"title": action.title, "by": action.by, "format": format_name(action.title)}
    changes = _changes(action.changes)
    return text(sources[action.kind], **values, changes=changes, most=count_in_words(most or 0))


def command_of(action: Action) -> str:
    """What a person types for it; "" where only a window can do it."""
    makers: Mapping[ActionKind, Callable[[Action], list[str]]] = {
        ActionKind.INSTALL_BUILD: lambda told: ["weighbridge", "engines", "install", told.build_id],
        ActionKind.USE_BUILD: lambda told: ["weighbridge", "engines", "use", told.build_id],
        ActionKind.FIND: lambda told: _search(told.query or Query()),
        ActionKind.LOAD: _run,
        ActionKind.ATTACH: lambda told: _attach(told.preset),
    }
    return shlex.join(makers[action.kind](action)) if action.kind in makers else action.command


def _search(query: Query) -> list[str]:
    words = ["weighbridge", "search", *query.words.split()]
    if query.format is not None:
        words += ["--format", query.format]
    if query.task is not None:
        words += ["--task", query.task]
    if query.least_parameters is not None and query.most_parameters is not None:
        words += ["--parameters", f"{_short(query.least_parameters)}:{_short(query.most_parameters)}"]
    return words


def _attach(preset: str) -> list[str]:
    """At the address where such a server is by default."""
    return ["weighbridge", "endpoints", "add", presets()[preset].address, "--preset", preset]


def _short(parameters: int) -> str:
    return f"{parameters / 1e9:.1f}B" if parameters >= 1e9 else f"{parameters / 1e6:.0f}M"


def _run(action: Action) -> list[str]:
    load = action.load
    words = ["weighbridge", "run", action.model_id, "--engine", action.engine_id]
    if load is None:
        return words
    options = (
        ("--context", load.context),
        ("--kv", load.key_type),
        ("--slots", load.slots if load.slots > 1 else None),
        ("--set", None if load.projector is None else f"projector={load.projector}"),
    )
    return words + [word for name, value in options if value is not None for word in (name, str(value))]


def _changes(changes: Mapping[str, Any]) -> str:
    """ "Context length 8,192, KV cache q8_0"; what is None is left as it is."""
    shown = dict(changes)
    if shown.get("value_type") == shown.get("key_type"):
        shown.pop("value_type", None)
    said = [f"{setting_name(name)} {_value(value)}" for name, value in shown.items() if value is not None]
    return ", ".join(said)


def _value(value: object) -> str:
    return number(value) if isinstance(value, int) else str(value)


def _shown(name: str, value: Any) -> str:
    """A value of a sentence as a person reads it."""
    if value is None:
        return text("unknown")
    if name in _NAMED:
        return _NAMED[name](value)
    if isinstance(value, bool | str):
        return str(value)
    return number(value) if isinstance(value, int | float) else str(value)


def _sizes(sizes: Any) -> str:
    """ "Q8_0 up to 21.2 B, Q4_K_M up to 37.2 B"."""
    said = [
        text("{label} ({bits} bits)", label=label, bits=_bits(bits))
        if most is None
        else text("{label} up to {count} parameters", label=label, count=count_in_words(most))
        for label, bits, most in sizes
    ]
    return ", ".join(said)


def _bits(bits: float) -> str:
    return number(bits, 0 if bits == int(bits) else 2)


_NAMED: Mapping[str, Callable[[Any], str]] = {
    **dict.fromkeys(_TOKENS, tokens),
    **dict.fromkeys(_SIZES, size),
    **dict.fromkeys(_SPEEDS, bandwidth),
    "format": format_name,
    "sizes": _sizes,
    "share": lambda share: number(share * 100),
    "bits": _bits,
    "least": lambda least: _bits(least) if isinstance(least, float) else str(least),
    "most_tps": lambda tps: number(tps, 0 if tps >= 10 else 1),
    "speed": speed_in_words,
    "vendors": lambda vendors: " / ".join(VENDORS.get(one, one) for one in vendors),
    "maker": lambda maker: VENDORS.get(maker, maker),
    "need": lambda need: name_of_answer("needs", Need(need)),
    "kind": lambda kind: name_of_answer("kind", ModelKind(kind)),
    "link": lambda link: name_of_answer("link", Link(link)),
}


def _machine(values: Mapping[str, Any]) -> str:
    """ "2 × RTX 3090, 48.0 GiB in all, 936 GB/s each, compute capability 8.6"."""
    kind = name_of_answer("hardware", values["kind"])
    name = values["device"] or kind
    cards, memory = values["cards"], values["bytes"]
    said = [name if cards in (1, None) else f"{number(cards)} × {name}"]
    if memory is not None:
        said.append(size(memory) if cards == 1 else text("{memory} in all", memory=size(memory)))
    if values["gbs"] is not None:
        speed = bandwidth(values["gbs"])
        said.append(speed if cards == 1 else text("{speed} each", speed=speed))
    if values["capability"] is not None:
        said.append(text("compute capability {capability}", capability=values["capability"]))
    return ", ".join(said)


def _fits(values: Mapping[str, Any]) -> str:
    """ "Fits · 4.9 GiB left on RTX 3090."."""
    fit = values["fit"]
    where = None if fit is None else where_in_words(fit)
    if not where:
        return text("Whether it fits is not known.")
    return f"{verdict_in_words(fit)} {where}."


def _context(values: Mapping[str, Any]) -> str:
    shown = {name: _shown(name, value) for name, value in values.items()}
    return text(SENTENCES["set_context"] if values["users"] > 1 else UNKNOWN["set_context"], **shown)


def _system(values: Mapping[str, Any]) -> str:
    told = text(
        SENTENCES["not_on_system"], engine=values["engine"], system=_SYSTEMS.get(values["system"], values["system"])
    )
    return " ".join((told, text("In WSL it does."))) if values["wsl"] else told


_SPECIAL: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "hardware": _machine,
    "it_fits": _fits,
    "set_context": _context,
    "not_on_system": _system,
    "unsuited": lambda values: str(
        explain_code(values["cause"].code, {"engine": values["engine"], **values["cause"].values})
    ),
}
