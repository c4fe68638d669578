"""The process that renders a model's chat template, from the side of whoever asks."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from weighbridge_engines import chat_template

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""For a model that brings no template."""

_PATIENCE_S = 2.0
"""How much longer than its own limit the process may take; where the system has no timer, that is what ends it."""

_ALARM = getattr(signal, "SIGALRM", 0)
_NEEDED = ("PATH", "SYSTEMROOT", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH")
"""All of the environment that it is given: no key, no token."""


class Objected(Exception):
    """The template refuses the messages; the text is its own."""


class Failed(Exception):
    """The template cannot be rendered: `fault` is one of `chat_template.FAULTS`."""

    def __init__(self, fault: str, message: str) -> None:
        super().__init__(f"the chat template failed ({fault}): {message}")
        self.fault = fault


class Renderer:
    """Renders templates in a process of its own, which is started anew where it has ended. For one thread at a time.

    `python` runs it: one that has jinja2.
    """

    def __init__(self, limit_s: float = chat_template.MOST_S + _PATIENCE_S, python: str = sys.executable) -> None:
        self._limit_s = limit_s
        self._python = python
        self._process: subprocess.Popen[bytes] | None = None

    def render(self, template: str, values: Mapping[str, Any]) -> str:
        """What `template` makes of `values`. Raises Objected and Failed; never takes longer than the limit."""
        if len(template) > chat_template.MOST_TEMPLATE:
            raise Failed("too_long", f"{len(template)} characters")
        told = self._asked(json.dumps({"template": template, "values": values}).encode() + b"\n")
        if "refused" in told:
            raise Objected(told["refused"])
        if "fault" in told:
            raise Failed(told["fault"], told["message"])
        return told["text"]

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _asked(self, question: bytes) -> dict[str, str]:
        process = self._started()
        assert process.stdin is not None and process.stdout is not None
        timed_out = threading.Event()

        def end() -> None:
            timed_out.set()
            process.kill()

        late = threading.Timer(self._limit_s, end)
        late.start()
        try:
            process.stdin.write(question)
            process.stdin.flush()
            line = process.stdout.readline()
        except OSError:
            line = b""
        finally:
            late.cancel()
            late.join()
        if not line.endswith(b"\n"):
            raise self._ended(process, timed_out.is_set())
        answer: dict[str, str] = json.loads(line)
        return answer

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            kept = {name: os.environ[name] for name in _NEEDED if name in os.environ}
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(argv(self._python), stdin=pipe, stdout=pipe, env=kept)
        return self._process

    def _ended(self, process: subprocess.Popen[bytes], timed_out: bool) -> Failed:
        """By a timer, its own or ours, or by itself."""
        code = process.wait()
        self.close()
        if timed_out or code == -_ALARM:
            return Failed("time", f"more than {chat_template.MOST_S:g} s")
        return Failed("died", f"exit status {code}")


def argv(python: str = sys.executable) -> Sequence[str]:
    """How the process is started: by its file, so that nothing of ours is on its path. No library that needs it is part
    of a release, whose executable is no Python.
    """
    return [python, "-I", chat_template.__file__]
