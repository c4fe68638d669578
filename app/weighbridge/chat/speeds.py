"""Has the speed of each answer kept, so that later ones are told better."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from weighbridge.chat.meter import Reading
from weighbridge.library.model import Model
from weighbridge.running.answered import Answered
from weighbridge.running.company import Company, Watch

if TYPE_CHECKING:  # built by others, who import them when they do
    from weighbridge.running.speed_recording import SpeedRecorder
    from weighbridge.running.supervisor import Supervisor

Attend = Callable[[Callable[[], Reading | None]], AbstractContextManager[None]]
"""What is entered as a question is sent and left as its answer ends; asked for the figures then."""


class AnswerSpeeds:
    """One for all who ask models."""

    def __init__(self, supervisor: Supervisor, recorder: SpeedRecorder) -> None:
        self._supervisor = supervisor
        self._recorder = recorder

    @contextmanager
    def attend(self, model: Model, reading: Callable[[], Reading | None]) -> Iterator[None]:
        """Stay while `model` answers, its lease being out. What was written of an answer that is stopped counts.

        How fast a server elsewhere is says nothing of this computer.
        """
        if model.remote is not None:
            yield
            return
        watch = Watch(self._supervisor, model.id)
        try:
            yield
        finally:
            company, figures = watch.end(), reading()
            if company is not None and figures is not None:
                self._recorder.answered(model, company.running, answered(figures, company))


def answered(reading: Reading, company: Company) -> Answered:
    """An answer's figures with what went on beside it."""
    return Answered(
        output_tokens=reading.output_tokens,
        prompt_read=reading.prompt_read,
        context_used=reading.context_used,
        decode_tps=reading.decode_tps,
        prompt_tps=reading.prompt_tps,
        by_engine=reading.source == "engine",
        alone=company.alone,
        busy=company.busy,
    )
