"""A comparison in words: tables as rows of cells, verdicts and notes as sentences. For terminal, report and window."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from weighbridge.base.errors import EngineFailed
from weighbridge.base.explain import explain, explain_code
from weighbridge.base.printable import printable
from weighbridge.base.units import THIN, number, seconds, size, speed, tokens
from weighbridge.base.words import mark, plural, text
from weighbridge.bench.cautions import cautions
from weighbridge.bench.compare import Ratio, Verdict, verdicts
from weighbridge.bench.plan import Fresh
from weighbridge.bench.result import Column, Comparison, Held, Subject
from weighbridge.bench.score import Sameness, Spread, score
from weighbridge.choices.setting_words import setting_in_words, setting_name
from weighbridge.choices.words import counts_in_words
from weighbridge.hardware.machine import Machine
from weighbridge.running.state import Setting
from weighbridge_engines.api import Cause

SHOWN_LINES = 12


@dataclass(frozen=True)
class Table:
    """`rows` below `head`; the cells of `right` are figures."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: tuple[int, ...] = ()


def figures(comparison: Comparison) -> Table:
    """What was measured, a row for each column that answered."""
    head = (
        text("Model and engine"),
        text("Writing"),
        text("Reading the prompt"),
        text("First token"),
        text("Load time"),
        text("Memory"),
        text("Most memory"),
        text("Prompt"),
        text("Answer"),
        text("Ended by"),
    )
    rows = tuple(_figures(column) for column in comparison.columns if column.turns)
    return Table(head, rows, tuple(range(1, 9)))


def conditions(comparison: Comparison) -> Table:
    """Under which each column was measured."""
    head = (
        text("Model and engine"),
        text("Format"),
        text("Parameters"),
        text("Bits per weight"),
        text("Size"),
        text("Version"),
        text("Build"),
        text("Computes on"),
        text("Threads"),
        text("Context"),
        text("Load of others"),
        text("File"),
    )
    rows = tuple(_conditions(column, comparison.machine) for column in comparison.columns)
    return Table(head, rows, (2, 3, 4, 8, 9, 10))


def settings(comparison: Comparison) -> tuple[str, ...]:
    """What each load asked for and what the engine uses, a line for each column that has said something."""
    return tuple(
        f"{column.name}: {', '.join(map(_setting_in_words, column.settings))}"
        for column in comparison.columns
        if column.settings
    )


def headline(comparison: Comparison) -> tuple[str, ...]:
    """When and where, what was asked, and how."""
    day = time.strftime("%Y-%m-%d %H:%M", time.localtime(comparison.begun_at))
    return (
        text(
            "Measured on {day} with Weighbridge {version} on {machine}.",
            day=day,
            version=comparison.version,
            machine=machine_in_words(comparison.machine),
        ),
        f"{_asked(comparison)} {_order(comparison)} {_freshness(comparison)}",
    )


def machine_in_words(machine: Machine) -> str:
    """ "Intel Xeon, 2 cores, 15.6 GiB, RTX 3090"."""
    cores = machine.cpu.usable_cores or machine.cpu.logical_cores
    count = () if cores is None else (plural("{count} core", "{count} cores", cores),)
    devices = (f"{device.name} ({size(device.memory.total_bytes)})" for device in machine.devices)
    return ", ".join((machine.cpu.name or text("unknown"), *count, size(machine.memory.total_bytes), *devices))


def comparison_in_words(comparison: Comparison) -> tuple[str, ...]:
    """Each column beside the first, a sentence each."""
    return tuple(verdict_in_words(one, comparison.columns) for one in verdicts(comparison.columns))


def verdict_in_words(one: Verdict, columns: Sequence[Column]) -> str:
    """ "B beside A: writes 2.1 times as fast, reads as fast, 30 % less memory, the same answer."."""
    parts = (
        _pace(one.writing, _WRITES),
        _pace(one.reading, _READS),
        _memory(one.memory),
        sameness_in_words(one.answer),
    )
    return text(
        "{column} beside {baseline}: {parts}.",
        column=columns[one.column].name,
        baseline=columns[one.baseline].name,
        parts=", ".join(part for part in parts if part),
    )


def sameness_in_words(answer: Sameness) -> str:
    """ "the same answer", "another answer from token 14 on"."""
    if answer.same:
        return text("the same answer")
    if answer.shorter and not answer.character:
        return text("one of the two answers is empty")
    if answer.shorter:
        return text(
            "the same answer as far as the shorter goes ({count} characters)", count=number(answer.character or 0)
        )
    if answer.spaces:
        return text("the same words with other spaces")
    at = (answer.character or 0) + 1
    if answer.token is None:
        return text("another answer from character {character} on", character=number(at))
    return text(
        "another answer from token {token} on (character {character})", token=number(answer.token), character=number(at)
    )


def notes(comparison: Comparison) -> tuple[str, ...]:
    """What failed or was left out, what makes the comparison doubtful, and what no such comparison tells."""
    failed = [
        text("{column} failed: {reason}", column=column.name, reason=str(explain(column.error)))
        for column in comparison.columns
        if column.error is not None
    ]
    return (*failed, *_left_out(comparison), *map(_caution, cautions(comparison)), limits())


def limits() -> str:
    """What is not measured here, and counts."""
    return text(
        "One request at a time: this alone does not choose an engine. How many users it serves at once, long prompts,"
        " and how good the answers are count as well."
    )


def answers(comparison: Comparison) -> tuple[tuple[tuple[str, ...], str], ...]:
    """The answers of the first turns, each once, with the names of the columns that gave it."""
    by_text: dict[str, list[str]] = {}
    for column in comparison.columns:
        if column.turns:
            by_text.setdefault(column.turns[0].text, []).append(column.name)
    return tuple((tuple(names), said) for said, names in by_text.items())


def logs(comparison: Comparison) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The last lines of engines that failed, with the names of their columns."""
    failed = [(column.name, column.error) for column in comparison.columns]
    return tuple(
        (name, tuple(map(printable, error.log[-SHOWN_LINES:])))
        for name, error in failed
        if isinstance(error, EngineFailed) and error.log
    )


def _figures(column: Column) -> tuple[str, ...]:
    told = score(column)
    return (
        column.name,
        _sign(told.by_engine, told.decode_tps) + _range(told.decode_tps, speed),
        _sign(told.read_by_engine, told.prompt_tps) + _range(told.prompt_tps, speed),
        _range(told.ttft_ms, seconds),
        seconds(column.load_ms),
        held_in_words(column.held),
        size(column.held.peak_bytes),
        text("unknown") if told.prompt_tokens is None else number(told.prompt_tokens),
        _sign(told.by_engine, told.output_tokens)
        + _range(told.output_tokens, lambda count: text("unknown") if count is None else number(count)),
        ", ".join(sorted({_finish(turn.finish) for turn in column.turns})),
    )


def held_in_words(held: Held) -> str:
    """ "312 MiB", "312 MiB + 4.1 GiB CUDA0"."""
    cards = (f"{size(amount)} {device}" for device, amount in held.on_devices.items() if amount)
    return " + ".join((size(held.resident_bytes), *cards))


def _conditions(column: Column, machine: Machine) -> tuple[str, ...]:
    subject, runtime = column.subject, column.runtime
    bits, busy = subject.bits_per_weight, score(column).busy
    return (
        column.name,
        " ".join(filter(None, (subject.format, subject.quant))),
        _parameters(subject),
        text("unknown") if bits is None else number(bits, 2),
        size(subject.size_bytes),
        (runtime.version if runtime else None) or text("unknown"),
        (runtime.build or runtime.engine_id) if runtime else "",
        _computes_on(column, machine),
        _setting(column, "threads"),
        _setting(column, "context"),
        text("unknown") if busy is None else f"{number(busy * 100)}{THIN}%",
        subject.endpoint or str(subject.path),
    )


def _parameters(subject: Subject) -> str:
    whole = subject.parameters
    return text("unknown") if whole is None else counts_in_words(whole, subject.active_parameters)


def _computes_on(column: Column, machine: Machine) -> str:
    """What it has put something on, or says that it computes on; the processor, where it sees no card."""
    told = (str(one.effective) for one in column.settings if one.name == "device" and one.effective)
    used = [device for device, amount in column.held.on_devices.items() if amount] or list(told)
    if used or not column.turns or column.runtime is None or column.subject.endpoint:
        return ", ".join(used) or text("unknown")
    seen = any(sight.engine == column.runtime.engine_id for device in machine.devices for sight in device.seen_by)
    return text("unknown") if seen else "CPU"


def _setting(column: Column, name: str) -> str:
    return next((_used(one) for one in column.settings if one.name == name), text("unknown"))


def _setting_in_words(one: Setting) -> str:
    return f"{setting_name(one.name)} {_used(one)}"


def _used(one: Setting) -> str:
    """ "4,096"; "2,000 → 2,048" where the engine uses another value than was asked for; "1 (asked)" where it tells
    none, and "not used" where it has no use for it.
    """
    if one.unused:
        return text("not used")
    known = [value for value in (one.requested, one.effective) if value is not None]
    shown = [setting_in_words(one.name, value) for value in (known if one.differs else known[-1:])]
    if one.effective is None and shown:
        return text("{value} (asked)", value=shown[0])
    return " → ".join(shown) or text("unknown")


def _range(known: Spread | None, shown: Callable[[float | None], str]) -> str:
    if known is None:
        return shown(None)
    least, most = shown(known.least), shown(known.most)
    if least == most:
        return shown(known.median)
    return f"{shown(known.median)} ({_bare(least)} – {_bare(most)})"


def _sign(by_engine: bool, known: Spread | None) -> str:
    """What marks a figure that was counted here."""
    return "" if by_engine or known is None else "~"


def _bare(figure: str) -> str:
    """A figure without its unit."""
    return figure.partition(THIN)[0]


def _finish(reason: str | None) -> str:
    known = {"stop": text("its end"), "length": text("the limit"), None: text("unknown")}
    return known.get(reason, reason or "")


def _asked(comparison: Comparison) -> str:
    workload = comparison.workload
    prompt = text("workload {name}", name=workload.name) if workload.name else text("a prompt of one's own")
    return text("Asked: {prompt}, greedy, up to {tokens}.", prompt=prompt, tokens=tokens(workload.tokens))


def _order(comparison: Comparison) -> str:
    turns = plural("{count} turn each", "{count} turns each", comparison.turns)
    warm = text("after a warm-up") if comparison.warm_up else text("without a warm-up")
    order = text("all loaded, in turns") if comparison.interleaved else text("one after the other")
    return text("{turns} {warm}, {order}.", turns=turns, warm=warm, order=order)


def _freshness(comparison: Comparison) -> str:
    if comparison.fresh is Fresh.ASKED:
        return text("The engines were asked to read the prompt anew at each turn.")
    if comparison.turns == 1:
        return text("The prompt was new to each engine.")
    return text("From the second turn on the prompt begins with a number of its own, so that it is read anew.")


_WRITES = (
    mark("writes as fast"),
    mark("writes {times} times as fast"),
    mark("writes at {percent} % of the speed"),
)
_READS = (
    mark("reads as fast"),
    mark("reads {times} times as fast"),
    mark("reads at {percent} % of the speed"),
)


def _pace(known: Ratio | None, words: tuple[str, str, str]) -> str:
    """By those of `words` that fit: as fast, faster, slower; "" where it is not known."""
    if known is None:
        return ""
    alike, faster, slower = words
    if known.alike:
        return text(alike)
    if known.times > 1:
        return text(faster, times=number(known.times, 1 if known.times >= 2 else 2))
    return text(slower, percent=number(known.times * 100))


def _memory(known: Ratio | None) -> str:
    if known is None:
        return ""
    if known.alike:
        return text("as much memory")
    if known.times >= 2:
        return text("{times} times the memory", times=number(known.times, 1))
    percent = number(abs(known.times - 1) * 100)
    if known.times > 1:
        return text("{percent} % more memory", percent=percent)
    return text("{percent} % less memory", percent=percent)


def _left_out(comparison: Comparison) -> tuple[str, ...]:
    names = [column.name for column in comparison.columns if column.left_out]
    return (text("Stopped before the end: {names}.", names=", ".join(names)),) if names else ()


def _caution(cause: Cause) -> str:
    return str(explain_code(cause.code, cause.values))
