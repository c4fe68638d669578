"""Listens to one answer and makes a turn of it. The clock starts when this is made."""

from __future__ import annotations

from collections.abc import Callable

from weighbridge.bench.result import Turn
from weighbridge.chat.events import Delta, Event, Finish, PromptProgress, StreamFault, Timings, Usage
from weighbridge.chat.meter import Meter, Reading
from weighbridge.running.company import Company


class Hearing:
    """`clock` gives seconds that never go back. `fault` is how the answer broke off, where it did."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._sent_s = clock()
        self._meter = Meter(clock)
        self._pieces: list[str] = []
        self._reasoning: list[str] = []
        self._answer_s: float | None = None
        self._finish: str | None = None
        self._prompt: tuple[int, int | None] | None = None
        self._counted: int | None = None
        self.fault: StreamFault | None = None

    @property
    def reading(self) -> Reading:
        """The figures as they stand now."""
        return self._meter.reading()

    def take(self, event: Event) -> None:
        """Hear one event."""
        self._meter.feed(event)
        match event:
            case Delta():
                self._hear(event)
            case Finish(reason):
                self._finish = reason
            case StreamFault():
                self.fault = event
            case PromptProgress(total, cache):
                self._prompt = (total, cache)
            case Timings(int(read), cached) if read + (cached or 0):
                self._prompt = (read + (cached or 0), cached)
            case Usage(int(tokens)) if tokens:
                self._counted = tokens
            case _:
                pass

    def turn(self, number: int, company: Company | None) -> Turn:
        """The answer as turn `number`, with what went on beside it."""
        reading = self.reading
        total, cached = self._prompt or (self._counted, None)
        thought = bool(self._reasoning) and self._answer_s is not None
        return Turn(
            number=number,
            pieces=tuple(self._pieces),
            output_tokens=reading.output_tokens,
            reasoning="".join(self._reasoning),
            prompt_tokens=total or None,
            cached_tokens=cached,
            decode_tps=reading.decode_tps,
            prompt_tps=reading.prompt_tps or _read_tps(total, cached, reading.ttft_ms),
            ttft_ms=reading.ttft_ms,
            answer_ms=(self._answer_s - self._sent_s) * 1000 if thought and self._answer_s is not None else None,
            by_engine=reading.source == "engine",
            read_by_engine=bool(reading.prompt_tps),
            finish=self._finish,
            busy=None if company is None else company.busy,
            alone=None if company is None else company.alone,
        )

    def _hear(self, delta: Delta) -> None:
        if delta.reasoning:
            self._reasoning.append(delta.reasoning)
        if delta.text:
            self._pieces.append(delta.text)
            self._answer_s = self._clock() if self._answer_s is None else self._answer_s


def _read_tps(total: int | None, cached: int | None, ttft_ms: float | None) -> float | None:
    """How fast a prompt was read at least: the wait holds its first token, too."""
    return (total - (cached or 0)) * 1000 / ttft_ms if total and ttft_ms else None
