"""A fake engine with programmable speed, pauses, failures and log lines.

Its model is a text file `NAME.echo`, one JSON object; every key is optional (see `Script`). It answers with `text`, or
with the last user message where there is none. It computes nothing, so it shows what everything around an engine costs,
and it carries the tests of all that must survive an engine's misbehaviour.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NoReturn, cast

from weighbridge_engines import llama_failures, llama_log
from weighbridge_engines.api import (
    UNCACHED,
    Capability,
    Cause,
    Chunk,
    ContextExceeded,
    Dialect,
    Engine,
    Load,
    Request,
)

DEFAULT_CONTEXT = 4096
BANDWIDTH_VARIABLE = "WEIGHBRIDGE_ECHO_BANDWIDTH"
"""The environment variable with what `bandwidth` tells: a JSON object, bytes per second by device."""
_PROMPT_STEP_S = 0.05
_SIGNALS = {"kill": getattr(signal, "SIGKILL", signal.SIGTERM), "illegal": signal.SIGILL}


@dataclass(frozen=True)
class Script:
    """What an echo model does. Speeds are tokens per second; 0 means: as fast as it goes.

    `fail_at` is "" (never), "load", "prompt" or "token" (after `fail_after` tokens), `fail_how` one of "exit" (status
    1), "crash" (SIGABRT), "kill" (SIGKILL), "illegal" (SIGILL), "hang" (no sign of life) and "error" (a Python
    exception). `log` is printed at the start of the load, `fail_log` before a failure. `grandchildren` are started in
    sessions of their own. `pauses` maps a token number to seconds of silence before it.
    """

    text: str = ""
    repeat: int = 1
    tps: float = 50.0
    prompt_tps: float = 2000.0
    chunk_tokens: int = 1
    context: int = DEFAULT_CONTEXT
    load_s: float = 0.0
    log: tuple[str, ...] = ()
    fail_at: str = ""
    fail_how: str = "exit"
    fail_after: int = 0
    fail_log: tuple[str, ...] = ()
    ignore_sigterm: bool = False
    grandchildren: int = 0
    pauses: Mapping[str, float] = field(default_factory=dict)  # JSON's keys are text

    @classmethod
    def read(cls, path: Path) -> Script:
        """The script in `path`. Raises ValueError where it is not a JSON object of known keys."""
        values = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(values, dict):
            raise ValueError("an echo model is a JSON object")
        unknown = set(values) - {known.name for known in fields(cls)}
        if unknown:
            raise ValueError(f"unknown keys: {', '.join(sorted(unknown))}")
        return cls(**cast(dict[str, Any], {name: _frozen(value) for name, value in values.items()}))


class EchoSession:
    """Plays a script. Several streams may run at once."""

    def __init__(self, script: Script, context: int) -> None:
        self._script = script
        self._context = context

    def stream(self, request: Request) -> Iterator[Chunk]:
        """The prompt's progress, then the answer at the script's speed."""
        prompt_tokens = sum(len(_pieces(_text_of(message))) for message in request.messages)
        if prompt_tokens >= self._context:
            raise ContextExceeded(prompt_tokens, self._context)
        yield from self._read_prompt(prompt_tokens)
        source = self._script.text or _text_of(request.messages[-1] if request.messages else {})
        pieces = _pieces(source) * self._script.repeat or ["."]
        limit = min(request.max_tokens or len(pieces), self._context - prompt_tokens)
        yield from self._decode(pieces[:limit], "length" if limit < len(pieces) else "stop")

    def close(self) -> None:
        """Nothing is held."""

    def _read_prompt(self, tokens: int) -> Iterator[Chunk]:
        if self._script.fail_at == "prompt":
            fail(self._script)
        tps = self._script.prompt_tps
        step = max(1, int(tps * _PROMPT_STEP_S)) if tps else max(1, tokens)
        yield Chunk(prompt_done=0, prompt_total=tokens)
        for done in range(step, tokens + step, step):
            if tps:
                time.sleep(min(step, tokens) / tps)
            yield Chunk(prompt_done=min(done, tokens), prompt_total=tokens, prompt_tps=tps or None)

    def _decode(self, pieces: Sequence[str], finish: str) -> Iterator[Chunk]:
        script, size = self._script, self._script.chunk_tokens
        due = time.perf_counter()
        for start in range(0, len(pieces), size):
            if script.fail_at == "token" and start >= script.fail_after:
                fail(script)
            due += size / script.tps if script.tps else 0.0
            due += float(script.pauses.get(str(start), 0.0))
            time.sleep(max(0.0, due - time.perf_counter()))
            part = pieces[start : start + size]
            yield Chunk(text="".join(part), tokens=len(part), finish=finish)


def fail(script: Script) -> NoReturn:
    """End, or hang, as the script says."""
    for line in script.fail_log:
        _say(line)
    if script.fail_how == "error":
        raise RuntimeError("echo was told to fail")
    if script.fail_how == "exit":
        os._exit(1)
    if script.fail_how != "hang":
        os.kill(os.getpid(), _SIGNALS.get(script.fail_how, signal.SIGABRT))
    while True:  # a signal may be delivered to another thread, some moments later
        time.sleep(3600)


def open_session(load: Load) -> EchoSession:
    """Load a script: its log lines, its grandchildren, its time, its failure."""
    script = Script.read(Path(load.model))
    if script.ignore_sigterm:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # of all threads: a mask would be this one's alone
    for line in script.log:
        _say(line)
    for _ in range(script.grandchildren):
        subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"], start_new_session=True)
    time.sleep(script.load_s)
    if script.fail_at == "load":
        fail(script)
    context = load.context or script.context
    _say(f"echo: context = {context}, slots = {load.slots}")
    return EchoSession(script, context)


def size(load: Load) -> None:
    """Load a script, in whose log a table may stand."""
    open_session(load)


def bandwidth() -> Mapping[str, float]:
    """What the environment says; echo has no device, and so nothing to measure by itself."""
    told: Mapping[str, float] = json.loads(os.environ.get(BANDWIDTH_VARIABLE, "{}"))
    return told


def report(line: str) -> Mapping[str, int]:
    """Effective values out of echo's own line."""
    found = re.fullmatch(r"echo: context = (\d+), slots = (\d+)", line)
    return {"context": int(found[1]), "slots": int(found[2])} if found else {}


def diagnose(log: Sequence[str], exit_code: int | None) -> Cause | None:
    """A bad script; else what llama.cpp's words would mean, for a script may print them."""
    if any("unknown keys" in line or "JSONDecodeError" in line for line in log):
        return Cause("engine.bad_model_file")
    return llama_failures.diagnose(log, exit_code)


def _frozen(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _pieces(text: str) -> list[str]:
    """Words with their spaces: echo's tokens."""
    return re.findall(r"\s*\S+|\s+", text)


def _text_of(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


ENGINE = Engine(
    id="echo",
    title="Echo (for trials)",
    formats=frozenset({"echo"}),
    capabilities=frozenset({Capability.CHAT, Capability.PARALLEL}),
    install="built in",
    missing=lambda: None,
    open=open_session,
    report=report,
    diagnose=diagnose,
    bandwidth=bandwidth,
    size=size,
    row=llama_log.row,
    dialect=Dialect(uncached=UNCACHED),
)
