"""`weighbridge run MODEL "prompt"`: one answer, on the terminal."""

from __future__ import annotations

import argparse
import io
import json
import math
import sys
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from weighbridge.base.errors import Refused, WeighbridgeError
from weighbridge.base.explain import explain, explain_code
from weighbridge.base.task import Task
from weighbridge.base.units import number, seconds, speed
from weighbridge.base.words import plural, text

FAILED = 1

if TYPE_CHECKING:
    from weighbridge.chat.events import Event, StreamFault
    from weighbridge.chat.meter import Reading
    from weighbridge.library.model import Model
    from weighbridge_engines.api import Engine, Load


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    from weighbridge.choices.setting_words import setting_hint
    from weighbridge.cli.loading import add_load_options, positive

    parser = subparsers.add_parser("run", help=text("ask a model one thing"))
    parser.add_argument("model", metavar=text("MODEL"), help=text("a name as ls shows it, or a file"))
    parser.add_argument(
        "prompt", metavar=text("PROMPT"), nargs="?", help=text("default: what stands on standard input")
    )
    parser.add_argument(
        "--image",
        action="append",
        default=[],
        metavar=text("FILE"),
        help=text("show this picture (PNG or JPEG) with the question; may be given several times"),
    )
    parser.add_argument("--system", default="", metavar=text("PROMPT"), help=text("a system prompt"))
    parser.add_argument("--max-tokens", type=positive, metavar="N", help=text("end the answer after this many tokens"))
    parser.add_argument("--temperature", type=_finite, metavar="T", help=setting_hint("temperature"))
    parser.add_argument("--top-k", type=int, metavar="K", help=setting_hint("top_k"))
    parser.add_argument("--top-p", type=_finite, metavar="P", help=setting_hint("top_p"))
    parser.add_argument("--min-p", type=_finite, metavar="P", help=setting_hint("min_p"))
    parser.add_argument("--seed", type=int, metavar="N", help=setting_hint("seed"))
    parser.add_argument("--json", action="store_true", help=text("print JSON"))
    parser.add_argument(
        "--show-command",
        action="store_true",
        help=text("print the llama-server command that would load the model so, without any key, and exit"),
    )
    add_load_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Load the model, print the answer as it comes, and its speed on standard error. Ctrl-C ends the answer."""
    from weighbridge.chat.client import ChatClient, Sampling, chat_body
    from weighbridge.cli.diagnosis import refuse_what_will_not_fit, told_with_fixes
    from weighbridge.cli.loading import failure_of, leased, library_for, owner_of_engines
    from weighbridge.cli.setting_options import listing

    if arguments.list_settings:
        print(listing(arguments.engines().values(), arguments.engine))
        return 0
    model = library_for(arguments.model).resolve(arguments.model)
    names = ("temperature", "top_k", "top_p", "min_p", "seed", "max_tokens")
    sampling = Sampling(**{name: getattr(arguments, name) for name in names})
    body = {} if arguments.show_command else chat_body(model.id, _messages(arguments), sampling)
    client = ChatClient()
    try:
        with owner_of_engines(arguments, model=model) as owned:
            load = owned.supervisor.default_load(model)
            if arguments.show_command:
                return _show_command(model, load, arguments.engines())
            if arguments.image:
                _check_sight(model, load, arguments.engines())
            if refuse_what_will_not_fit(arguments, model, load):
                return FAILED
            _tell_reach(model)
            with (
                told_with_fixes(arguments, model, load),
                leased(owned.supervisor, model, sys.stderr.isatty() and not arguments.json) as lease,
                owned.attend(model, lambda: shown.reading),
            ):
                _tell_left_out(lease.left_out(sampling.body()), model)
                shown = _Shown(quiet=arguments.json)
                client.stream(lease, body, shown.take, Task())
            if shown.fault is not None and model.remote is None:
                shown.why = failure_of(owned.supervisor, model.id)
    finally:
        client.close()
    shown.tell(model)
    return 0 if shown.fault is None else 1


def _tell_reach(model: Model) -> None:
    """Say on standard error that what is asked leaves this computer, where it does."""
    if model.remote is not None and model.leaves:
        told = text("What you ask leaves this computer: {endpoint} answers.", endpoint=model.remote.endpoint)
        print(told, file=sys.stderr)


def _tell_left_out(fields: Sequence[str], model: Model) -> None:
    """Say on standard error what of that which was asked is not known there."""
    if fields:
        told = text(
            "{model} is asked without what its server does not know: {fields}.",
            model=model.id,
            fields=", ".join(fields),
        )
        print(told, file=sys.stderr)


def _show_command(model: Model, load: Load, engines: Mapping[str, Engine]) -> int:
    from weighbridge.hardware.detect import detect
    from weighbridge.running.choose import engine_for
    from weighbridge.running.load_settings import command_line

    engine = engine_for(model, engines.values(), load, detect)
    line = command_line(load, engine)
    if line is None:
        raise Refused("engine.no_command", engine=engine.title)
    print(line)
    return 0


def _check_sight(model: Model, load: Load, engines: Mapping[str, Engine]) -> None:
    """Before anything is loaded. What a model of an endpoint sees is told by its server, or by its answer."""
    from weighbridge.cli.pictures import check_sight
    from weighbridge.hardware.detect import detect
    from weighbridge.running.choose import engine_for
    from weighbridge.running.sight import not_shown, sees

    if model.remote is not None:
        if sees(model, load) is False:
            raise not_shown(model)
        return
    check_sight(model, engine_for(model, engines.values(), load, detect), load)


def _messages(arguments: argparse.Namespace) -> list[Mapping[str, Any]]:
    from weighbridge.cli.pictures import content

    prompt = arguments.prompt if arguments.prompt is not None else _stdin()
    system: list[Mapping[str, Any]] = [{"role": "system", "content": arguments.system}] if arguments.system else []
    return [*system, {"role": "user", "content": content(prompt, arguments.image)}]


def _stdin() -> str:
    """All of standard input; bytes that are no text become U+FFFD. Empty where it is closed."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    return sys.stdin.read() if sys.stdin is not None else ""


def _finite(value: str) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(text("{value} is not a number", value=value))
    return number


class _Shown:
    """The answer, printed while it comes unless `quiet`. Its clock starts with it: make it as the question is sent.

    `fault` is how an answer broke off, `why` what is known of the reason.
    """

    def __init__(self, quiet: bool) -> None:
        from weighbridge.chat.meter import Meter

        self._quiet = quiet
        self._meter = Meter(time.monotonic)
        self._text: list[str] = []
        self.fault: StreamFault | None = None
        self.why: WeighbridgeError | None = None

    @property
    def reading(self) -> Reading:
        """The figures as they stand now."""
        return self._meter.reading()

    def take(self, event: Event) -> None:
        """Print, count and keep one event."""
        from weighbridge.chat.events import Delta, StreamFault

        self._meter.feed(event)
        if isinstance(event, Delta):
            self._text.append(event.text)
            if not self._quiet:
                print(event.reasoning + event.text, end="", flush=True)
        elif isinstance(event, StreamFault):
            self.fault = event

    def tell(self, model: Model) -> None:
        """The end: figures in words on standard error, or all of it as JSON."""
        reading = self.reading
        if self._quiet:
            print(
                json.dumps(
                    {
                        "model": model.id,
                        "leaves_computer": model.leaves,
                        "text": "".join(self._text),
                        "fault": self.fault.code if self.fault else None,
                        **_why(self.why),
                        **_figures(reading),
                    }
                )
            )
            return
        print(flush=True)
        print(_figures_in_words(reading), file=sys.stderr)
        if self.fault is not None:
            print(explain_code(self.fault.code, {"message": self.fault.message}), file=sys.stderr)
        if self.why is not None:
            print(explain(self.why), file=sys.stderr)


def _why(error: WeighbridgeError | None) -> dict[str, Any]:
    return {} if error is None else {"cause": {"code": error.code, "message": str(explain(error))}}


def _figures(reading: Reading) -> dict[str, Any]:
    return {
        "output_tokens": reading.output_tokens,
        "decode_tps": reading.decode_tps,
        "prompt_tps": reading.prompt_tps,
        "ttft_ms": reading.ttft_ms,
        "context_used": reading.context_used,
        "source": reading.source,
    }


def _figures_in_words(reading: Reading) -> str:
    return plural(
        "{count} token at {speed}; first token after {ttft}, prompt {prompt}",
        "{count} tokens at {speed}; first token after {ttft}, prompt {prompt}",
        reading.output_tokens,
        count=number(reading.output_tokens),
        speed=_counted(speed(reading.decode_tps), reading),
        ttft=seconds(reading.ttft_ms),
        prompt=speed(reading.prompt_tps),
    )


def _counted(shown: str, reading: Reading) -> str:
    """Marked where it was counted here, out of pieces of text."""
    return f"~{shown}" if reading.source == "counted" and reading.decode_tps is not None else shown
