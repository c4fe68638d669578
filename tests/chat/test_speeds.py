"""The speed of an answer is kept, whoever asked and however it ended: over the echo engine."""

import json
import time
from dataclasses import replace
from functools import partial

import pytest

from weighbridge.base.database import Database
from weighbridge.base.errors import Cancelled
from weighbridge.base.task import Task
from weighbridge.chat.answering import Answering, Ask
from weighbridge.chat.client import ChatClient, Sampling, chat_body
from weighbridge.chat.events import Delta
from weighbridge.chat.meter import Meter, Reading
from weighbridge.chat.speeds import AnswerSpeeds, answered
from weighbridge.chat.store import ChatStore
from weighbridge.library.model import Model
from weighbridge.running.answered import Answered
from weighbridge.running.choose import Defaults
from weighbridge.running.company import Company
from weighbridge.running.speed_observations import SpeedObservations
from weighbridge.running.speed_recording import Calculated, SpeedRecorder
from weighbridge.running.state import Running, State
from weighbridge.running.supervisor import Supervisor
from weighbridge_engines.api import Load
from weighbridge_engines.catalogue import catalogue

PROMPT = "word " * 100


class Parts:
    """A supervisor over echo models, and a recorder; `kept()` closes both and tells what was kept."""

    def __init__(self, folder):
        self.folder = folder
        self.database = Database(folder / "w.sqlite3")
        self.observations = SpeedObservations(self.database)
        self.recorder = SpeedRecorder(
            self.observations, lambda *_: Calculated(), lambda _: ("1", ("A Processor",)), cores=64
        )
        self.supervisor = Supervisor(catalogue(), Defaults(cores=2))
        self.speeds = AnswerSpeeds(self.supervisor, self.recorder)
        self.client = ChatClient()

    def model(self, name="parrot", **script):
        path = self.folder / f"{name}.echo"
        path.write_text(json.dumps({"tps": 400, "prompt_tps": 4000, **script}), encoding="utf-8")
        return Model(name, name, path, (path,), "echo", None, 10)

    def ask(self, model, on_event=lambda event: None, task=None, load=None, prompt=PROMPT):
        """One answer, as the terminal asks for it."""
        body = chat_body(model.id, [{"role": "user", "content": prompt}], Sampling())
        meter = None

        def take(event):
            meter.feed(event)
            on_event(event)

        reading = lambda: None if meter is None else meter.reading()  # noqa: E731 - one use
        with self.supervisor.lease(model, load).result() as lease, self.speeds.attend(model, reading):
            meter = Meter(time.monotonic)
            self.client.stream(lease, body, take, task or Task())

    def kept(self):
        self.recorder.close()
        return self.observations.all()

    def close(self):
        self.client.close()
        self.supervisor.close()
        self.recorder.close()
        self.database.close()


@pytest.fixture
def parts(tmp_path):
    made = Parts(tmp_path)
    yield made
    made.close()


def test_an_answer_is_kept_with_the_speeds_that_the_engine_told(parts):
    parts.ask(parts.model())
    (one,) = parts.kept()
    assert 0 < one.decode_tps < 450  # the script's 400, or less on a busy machine
    assert 0 < one.prefill_tps < 4500
    assert (one.depth, one.prompt_tokens) == (152, 101)  # a hundred words and the space behind them, twice
    assert one.situation.engine_id == "echo"
    assert json.loads(one.situation.load)[1] == 1  # of two cores one stays free


def test_an_answer_of_the_chat_is_kept_once_it_is_over(parts):
    model, store = parts.model(), ChatStore(parts.database)
    _, answer = store.ask(store.create("x").id, None, PROMPT, model.id, {})
    ask = Ask(answer, ({"role": "user", "content": PROMPT},), Sampling())
    attend = partial(parts.speeds.attend, model)
    answering = Answering(ask, parts.supervisor.lease(model), parts.client, store, attend=attend)
    answering.start()
    answering._thread.join(20)
    (one,) = parts.kept()
    assert one.decode_tps == store.message(answer.id).figures["decode_tps"]
    assert one.prompt_tokens == 101


def test_of_an_answer_that_is_stopped_counts_what_was_written(parts):
    task, written = Task(), []

    def stop(event):
        written.append(event) if isinstance(event, Delta) else None
        if len(written) == 40:
            task.cancel()

    with pytest.raises(Cancelled):
        parts.ask(parts.model(), stop, task)
    (one,) = parts.kept()
    assert one.decode_tps == pytest.approx(400, rel=0.3)
    assert one.depth == pytest.approx(101 + 20, abs=2)


def test_a_short_answer_to_a_short_question_is_not_kept(parts):
    parts.ask(parts.model(text="a b c"), prompt="Is it?")
    assert parts.kept() == ()


def test_an_answer_beside_which_another_was_written_is_not_kept(parts):
    model = parts.model()
    load = replace(parts.supervisor.default_load(model), slots=2)
    others = []

    def ask_too(_event):
        if not others:
            others.append(parts.supervisor.lease(model, load).result(20))
            others[0].give_back()

    parts.ask(model, ask_too, load=load)
    assert parts.kept() == ()


def test_figures_are_handed_on_as_they_are():
    running = Running("m", "M", "e", State.READY, Load("m"))
    reading = Reading("counted", decode_tps=5.0, prompt_tps=6.0, context_used=90, prompt_read=7, output_tokens=8)
    told = answered(reading, Company(running, alone=False, busy=0.25))
    assert told == Answered(8, 7, 90, 5.0, 6.0, by_engine=False, alone=False, busy=0.25)
