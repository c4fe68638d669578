"""A change that would make a model fit, or fast enough, in words. For window and terminal."""

from __future__ import annotations

from weighbridge.base.units import GIB, THIN, bandwidth, number, size, tokens
from weighbridge.base.words import plural, text
from weighbridge.choices.changes import Change, ChangeKind
from weighbridge.choices.choice import Choice
from weighbridge.choices.speed_words import speed_in_words
from weighbridge.choices.words import verdict_in_words
from weighbridge.hardware.machine import Device
from weighbridge_engines.api import Load


def change_in_words(change: Change, before: Choice) -> str:
    """ "A KV cache in q8_0: Fits · 1.2 GiB left, 58 – 66 tok/s"."""
    verdict = verdict_in_words(change.choice.fit)
    what = what_in_words(change, before)
    if change.choice.speeds is None or change.choice.speeds.decode is None:
        return text("{change}: {verdict}", change=what, verdict=verdict)
    speed = speed_in_words(change.choice.speeds.decode)
    return text("{change}: {verdict}, {speed}", change=what, verdict=verdict, speed=speed)


def what_in_words(change: Change, before: Choice) -> str:
    """What is changed: "32.0 GiB of memory"."""
    if change.kind is ChangeKind.SETTINGS:
        return _settings(change.choice, before)
    if change.kind is ChangeKind.BUILD:
        return _build(change, before)
    if change.kind is ChangeKind.QUANT:
        model = change.choice.model
        return text("{model} instead, {size}, which is here", model=model.id, size=size(model.size_bytes))
    return _added(change)


def _settings(after: Choice, before: Choice) -> str:
    old, new = before.load, after.load
    said: list[str] = []
    if (old.gpu_layers, old.cpu_experts) != (new.gpu_layers, new.cpu_experts):
        said.append(_division(new))
    if old.slots != new.slots:
        said.append(plural("{count} slot", "{count} slots", new.slots, count=number(new.slots)))
    if old.key_type != new.key_type:
        said.append(text("KV cache in {type}", type=new.key_type))
    if old.context != new.context and new.context is not None:
        said.append(text("A context of {tokens}", tokens=tokens(new.context)))
    listed = " + ".join(said)
    return listed[:1].upper() + listed[1:]


def _division(load: Load) -> str:
    """How many layers, and experts of how many, lie where."""
    if load.gpu_layers is None:
        return text("Layers and experts left to the engine")
    layers = plural("{count} layer on cards", "{count} layers on cards", load.gpu_layers, count=number(load.gpu_layers))
    if not load.cpu_experts:
        return layers
    experts = plural(
        "experts of {count} layer in RAM",
        "experts of {count} layers in RAM",
        load.cpu_experts,
        count=number(load.cpu_experts),
    )
    return f"{layers}, {experts}"


def _build(change: Change, before: Choice) -> str:
    values = before.elsewhere.missing.values if before.elsewhere else {}
    return text(
        "The {build} build of {engine}, which uses {device}",
        build=str(values.get("build", "")),
        engine=str(values.get("engine", "")),
        device=_name(change.device),
    )


def _added(change: Change) -> str:
    upgrade = change.upgrade
    if upgrade is None:
        return ""
    if upgrade.memory_bytes is not None:
        return text("{size} of system memory", size=size(upgrade.memory_bytes))
    if upgrade.memory_type is not None:
        kind = upgrade.memory_type
        return text("{kind} memory ({speed})", kind=kind.name, speed=bandwidth(kind.bandwidth.low_gbs))
    memory = _gib(upgrade.device)
    if upgrade.like_others:
        return text("One more {device} ({memory})", device=_name(upgrade.device), memory=memory)
    if upgrade.replaces:
        return text(
            "A card with {memory} in place of what is there, such as {device}",
            memory=memory,
            device=_name(upgrade.device),
        )
    return text("A card with {memory}, such as {device}", memory=memory, device=_name(upgrade.device))


def _gib(device: Device | None) -> str:
    total = device.memory.total_bytes if device else None
    return text("unknown memory") if total is None else f"{number(total / GIB)}{THIN}GiB"


def _name(device: Device | None) -> str:
    return device.name if device else ""
