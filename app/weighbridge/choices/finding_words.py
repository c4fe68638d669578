"""A finding and its fixes in words, and each fix as a command. For window and terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from shlex import quote

from weighbridge.base.explain import Explanation, explain_code
from weighbridge.base.units import number, size, tokens
from weighbridge.base.words import mark, text
from weighbridge.choices.finding import Finding
from weighbridge.choices.fixes import Fix, FixKind
from weighbridge.choices.setting_words import setting_name, value_in_words
from weighbridge.choices.way_words import given_up_in_words, way_in_words
from weighbridge_engines.api import HOST, Load


def told(finding: Finding) -> Explanation:
    """What happened, and what to do."""
    return explain_code(finding.code, finding.values)


def numbers_in_words(finding: Finding) -> tuple[str, ...]:
    """What is known of the memory that ran out, beside what `told` says: a line each."""
    values = finding.values
    lines: list[str] = []
    free, context, trained = values.get("free_bytes"), values.get("context"), values.get("trained")
    device = values.get("device")
    if finding.code == "engine.memory_refused" and isinstance(free, int):
        lines.append(text("{free} of it were free.", free=size(free)))
    if finding.code == "engine.card_memory_refused" and isinstance(free, int):
        lines.append(text("{free} of {device} were free.", device=str(device), free=size(free)))
    if finding.code == "engine.killed" or (finding.code == "engine.out_of_memory" and device in (None, HOST)):
        lines += _of_system(finding)
    if isinstance(context, int) and isinstance(trained, int):
        said = text(
            "A context of {context} is longer than the {trained} that the model was trained for.",
            context=tokens(context),
            trained=tokens(trained),
        )
        lines.append(said)
    return tuple(lines)


def _of_system(finding: Finding) -> list[str]:
    """What the load should have taken of the system's memory, and what there is of it, within the limit of a container
    where there is one.
    """
    fit, places = (finding.asked.fit, finding.asked.places) if finding.asked else (None, ())
    if fit is None or not places or places[0].free_bytes is None or places[0].total_bytes is None:
        return []
    said = text(
        "It should have taken {needed} of the system's memory; {free} of {total} are free now.",
        needed=size(fit.estimate.share(places[0].id).known_bytes),
        free=size(places[0].free_bytes),
        total=size(places[0].total_bytes),
    )
    return [said]


def fix_in_words(fix: Fix, finding: Finding) -> str:
    """What a button says: "Load with KV cache in q8_0"."""
    words = {
        FixKind.AGAIN: text("Try again"),
        FixKind.END: text("End {model} and load", model=fix.other_id),
        FixKind.OTHER_ENGINE: text("Load with {engine}", engine=fix.title),
        FixKind.USE_BUILD: text("Use the build {build}", build=fix.title),
        FixKind.INSTALL_BUILD: text("Install the build {build}…", build=fix.title),
        FixKind.OTHER_MODEL: text("Load {model} instead", model=fix.other_id),
        FixKind.VERIFY: text("Verify the file"),
        FixKind.SCAN: text("Scan the Library again"),
        FixKind.FETCH: text("Get it from the Hub…"),
        FixKind.LOAD: text("Load: {changed}", changed=_what(fix, finding)),
    }
    return words[fix.kind]


def figures_in_words(fix: Fix, finding: Finding) -> str:
    """What stands beside the button: the figures of what was weighed, what would be given back; "" where nothing is
    known.
    """
    if fix.way is not None:
        return way_in_words(fix.way).removeprefix(f"{given_up_in_words(fix.way)}: ")
    if fix.kind is FixKind.END:
        return text("gives back {size}", size=size(fix.freed_bytes)) if fix.freed_bytes else ""
    if fix.kind is FixKind.INSTALL_BUILD and not fix.verified:
        return text("nobody has told yet whether it runs")
    if fix.kind is FixKind.FETCH:
        return fix.repository
    return ""


def command_of(fix: Fix, finding: Finding) -> str | None:
    """The command that does it; None where there is none: what a window has loaded, no command ends."""
    name = quote(finding.model.id)
    commands = {
        FixKind.USE_BUILD: f"weighbridge engines use {fix.build_id}",
        FixKind.INSTALL_BUILD: f"weighbridge engines install {fix.build_id}",
        FixKind.OTHER_MODEL: f"weighbridge run {quote(fix.other_id)}",
        FixKind.SCAN: "weighbridge ls",
        FixKind.VERIFY: f"weighbridge verify {name}",
        FixKind.FETCH: f"weighbridge pull {fix.repository}",
        FixKind.AGAIN: f"weighbridge run {name}",
        FixKind.OTHER_ENGINE: f"weighbridge run {name} --engine {fix.load.engine if fix.load else ''}",
    }
    if fix.kind is not FixKind.LOAD:
        return commands.get(fix.kind)
    options = _options(finding.load, fix.load)
    return None if options is None else " ".join((f"weighbridge run {name}", *options))


def _what(fix: Fix, finding: Finding) -> str:
    if fix.way is not None:
        return given_up_in_words(fix.way)
    return ", ".join(_differences(finding.load, fix.load)) if fix.load is not None else ""


def _differences(before: Load, after: Load) -> list[str]:
    """What an unweighed load changes."""
    said = [text(words) for name, words in _WITHOUT.items() if getattr(before, name) and not getattr(after, name)]
    said += [text(words) for name, words in _LEFT.items() if getattr(before, name) != getattr(after, name)]
    if before.adapter_scales and not after.adapter_scales and after.adapters:
        said.append(text("adapters as strong as they were made"))
    if before.draft_kind != after.draft_kind and not before.draft:
        said.append(text("without the model's own head"))
    if not before.extra or after.extra:
        said += _other_options(before, after)
    if before.context != after.context and after.context is not None:
        said.append(text("a context of {context}", context=tokens(after.context)))
    if (before.key_type, before.value_type) != (after.key_type, after.value_type):
        kind = after.key_type
        said.append(text("KV cache in {type}", type=kind) if kind else text("KV cache as the engine likes"))
    if before.gpu_layers != after.gpu_layers:
        said.append(_layers(after))
    return said


def _other_options(before: Load, after: Load) -> Iterator[str]:
    """Options of one engine that are otherwise."""
    for name in sorted({*before.extra, *after.extra}):
        value = after.extra.get(name)
        if value != before.extra.get(name):
            left = text("as the engine likes")
            yield text("{setting}: {value}", setting=setting_name(name), value=value_in_words(value, left))


def _layers(load: Load) -> str:
    if load.gpu_layers == 0:
        return text("on the processor")
    return text("{count} layers on cards", count=number(load.gpu_layers or 0))


def _options(before: Load, after: Load | None) -> list[str] | None:
    """The options of `run` that make `after`, those asked for before among them; None where there are none for it."""
    if after is None:
        return None
    changed = [each.name for each in fields(Load) if getattr(before, each.name) != getattr(after, each.name)]
    if not changed or not _CANNOT_BE_TOLD.isdisjoint(changed) or after.key_type != after.value_type:
        return None
    told = {option: getattr(after, name) for name, option in _OPTIONS.items()}
    asked = {option: value for option, value in told.items() if value is not None}
    if after.slots == 1:
        del asked["--slots"]
    words = [word for option, value in asked.items() for word in (option, str(value))]
    return [*words, *(word for each in _settings(changed, before, after) for word in ("--set", quote(each)))]


def _settings(changed: Iterable[str], before: Load, after: Load) -> Iterator[str]:
    """What has no option of its own, for `--set`; with nothing behind the "=" it is left to the engine."""
    for name in changed:
        if name == "extra":
            yield from (f"{one}=" for one in before.extra if one not in after.extra)
            yield from (f"{one}={value}" for one, value in after.extra.items() if value != before.extra.get(one))
        elif name not in (*_OPTIONS, "value_type"):
            value = getattr(after, name)
            yield f"{name}={_SWITCH[value] if isinstance(value, bool) else value or ''}"


_WITHOUT: Mapping[str, str] = {
    "projector": mark("without the projector"),
    "draft": mark("without the draft model"),
    "adapters": mark("without adapters"),
    "template": mark("with the model's own template"),
    "extra": mark("without options of your own"),
}
"""What is said where a load has none of it any more."""

_LEFT: Mapping[str, str] = {
    "flash_attention": mark("flash attention as the engine likes"),
    "mapped": mark("read into memory"),
    "split_mode": mark("cards share it as the engine likes"),
}
"""What is said where one is otherwise."""

_OPTIONS: Mapping[str, str] = {
    "context": "--context",
    "slots": "--slots",
    "key_type": "--kv",
    "gpu_layers": "--gpu-layers",
    "cpu_experts": "--cpu-experts",
}
_CANNOT_BE_TOLD = frozenset({"model", "alias", "engine", "in_process", "task", "sampling"})
_SWITCH = {True: "on", False: "off"}
