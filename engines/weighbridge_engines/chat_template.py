"""A model's chat template, rendered where it can do no harm.

A template comes with a model, out of a stranger's file, and is a program. It runs in Jinja's sandbox, and this module
is run by its path as a process of its own (`templates.Renderer` starts it), which has a limit of memory and of time, so
that also what the sandbox does not see ends: a text made longer and longer, a filter that works for hours.

One question a line on standard input, one answer a line on standard output, each a JSON object. The question has
`template` and the `values` it is given; the answer `text`, or `refused`: what the template itself objects to, or
`fault` (one of FAULTS) with its `message`.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, NoReturn

MOST_TEMPLATE = 1 << 18
"""Characters of a template; the longest that are in use have some 30,000."""

MOST_TEXT = 1 << 25
"""Characters of what is rendered."""

MOST_S = 10.0
MOST_MEMORY_BYTES = 1 << 30
MOST_WORDS = 500

FAULTS = ("too_long", "syntax", "forbidden", "failed", "text_too_long", "memory", "time", "died")
"""Why there is no text. The last two are told by whoever started the process."""


class Objection(Exception):
    """What a template says by its `raise_exception`."""


class TooLong(Exception):
    """More was rendered than MOST_TEXT."""


def main() -> int:
    """Answer until standard input ends."""
    _limit_memory()
    for line in sys.stdin:
        _limit_time(MOST_S)
        told = json.dumps(answer(line))
        _limit_time(0)
        sys.stdout.write(told + "\n")
        sys.stdout.flush()
    return 0


def answer(line: str) -> Mapping[str, str]:
    """The answer to one question."""
    asked = json.loads(line)
    if len(asked["template"]) > MOST_TEMPLATE:
        return _fault("too_long", f"{len(asked['template'])} characters")
    try:
        return {"text": rendered(asked["template"], asked["values"])}
    except Objection as objection:
        return {"refused": str(objection)[:MOST_WORDS]}
    except Exception as error:  # a template may raise whatever its expressions can
        return _fault(_kind(error), f"{type(error).__name__}: {error}")


def _kind(error: Exception) -> str:
    from jinja2.exceptions import SecurityError, TemplateSyntaxError

    kinds: Sequence[tuple[type[Exception], str]] = (
        (TemplateSyntaxError, "syntax"),
        (SecurityError, "forbidden"),
        (TooLong, "text_too_long"),
        (MemoryError, "memory"),
    )
    return next((fault for kind, fault in kinds if isinstance(error, kind)), "failed")


def rendered(template: str, values: Mapping[str, Any]) -> str:
    """The text that `template` makes of `values`. Raises what a template may do wrong."""
    pieces, length = [], 0
    for piece in _compiled(template).generate(**values):
        length += len(piece)
        if length > MOST_TEXT:
            raise TooLong
        pieces.append(piece)
    return "".join(pieces)


@lru_cache(maxsize=2)
def _compiled(template: str) -> Any:
    """As Hugging Face's tokenizers set their environment up, for which templates are written."""
    from jinja2 import nodes
    from jinja2.ext import Extension, loopcontrols
    from jinja2.parser import Parser
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Generation(Extension):
        """`{% generation %}` marks what training learns from; here it is nothing but its inside."""

        tags = {"generation"}  # noqa: RUF012 - Jinja's own way

        def parse(self, parser: Parser) -> list[nodes.Node]:
            next(parser.stream)
            return parser.parse_statements(("name:endgeneration",), drop_needle=True)

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, Generation]
    )
    environment.filters["tojson"] = _json
    environment.globals["raise_exception"] = _object
    environment.globals["strftime_now"] = _now
    return environment.from_string(template)


def _json(value: object, ensure_ascii: bool = False, indent: int | None = None, **more: Any) -> str:
    """Without the escapes for HTML that Jinja's own has."""
    allowed = {name: told for name, told in more.items() if name in ("separators", "sort_keys")}
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, **allowed)


def _object(message: object) -> NoReturn:
    raise Objection(str(message))


def _now(form: str) -> str:
    return datetime.now().strftime(form)


def _fault(fault: str, message: str) -> Mapping[str, str]:
    return {"fault": fault, "message": message[:MOST_WORDS]}


def _limit_memory() -> None:
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY_BYTES, MOST_MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _limit_time(limit_s: float) -> None:
    """The signal's own action ends the process, also amid one long step of a library; 0 is no limit."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_REAL, limit_s)


if __name__ == "__main__":
    sys.exit(main())
