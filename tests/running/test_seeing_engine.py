"""A real engine that sees: llama.cpp by xllamacpp, SmolLM2 with a projector of random weights, behind our own port."""

import json
import threading
import time
from http.client import HTTPException
from urllib.request import Request, urlopen

import pytest
from tests.engines.made_vision import SIDE, TOKENS, image_part, png, projector
from tests.server.fakes import chat, events, send

from weighbridge.base.database import Database
from weighbridge.base.errors import EngineFailed
from weighbridge.estimates.beside import PROJECTOR_NEED
from weighbridge.formats.pairing import Compared, Pairing, pairing
from weighbridge.formats.variant import Role
from weighbridge.library.headers import header_at
from weighbridge.library.index import Library
from weighbridge.library.marks import Marks
from weighbridge.running.choose import Defaults
from weighbridge.running.parts import Parts
from weighbridge.running.state import State
from weighbridge.running.supervisor import Supervisor
from weighbridge.server.gateway import gateway
from weighbridge.server.requests import RequestRecords
from weighbridge.server.serving import Port
from weighbridge_engines.api import Load
from weighbridge_engines.catalogue import catalogue

WAIT_S = 120
NAME = "SmolLM2-135M-Instruct.Q4_1"
WIDTH = 576
"""Of SmolLM2's embeddings."""
pytestmark = pytest.mark.engine


class House:
    """The supervisor and a port over a library whose one model has its projector chosen in the Library."""

    def __init__(self, smollm2, folder, file):
        self.database = Database(folder / "w.sqlite3")
        marks = Marks(self.database)
        self.library = Library([smollm2.parent])
        self.library.scan()
        self.model = self.library.resolve(NAME)
        marks.choose_part(self.model, Role.PROJECTOR, file)
        self.parts = Parts(marks.of)
        self.supervisor = Supervisor(catalogue(), Defaults(cores=2, context=1024, name_parts=self.parts.named_in))
        self.port = Port(gateway(self.library, self.supervisor, RequestRecords(100)))
        self.port.start(0)
        self.supervisor.load(self.model, self.supervisor.default_load(self.model)).result(WAIT_S)

    def ask(self, *parts, **more):
        """The answer of the port to a question with `parts`."""
        content = ["What is this?", *parts]
        body = {"model": NAME, "temperature": 0, "max_tokens": 4, **more}
        return send(self.port, chat({**body, "messages": [{"role": "user", "content": content}]}))

    def prompt_tokens(self, *parts):
        """How many tokens the prompt of such a question is, as the answer says."""
        reply = self.ask(*parts)
        assert reply.status == 200, reply.body
        return reply.json["usage"]["prompt_tokens"]

    def close(self):
        self.port.stop()
        self.supervisor.close()
        self.database.close()


@pytest.fixture(scope="module")
def seeing(tmp_path_factory):
    from tests.model import starter_model

    folder = tmp_path_factory.mktemp("seeing")
    made = House(starter_model(), folder, projector(folder / "mmproj-tiny.gguf", WIDTH))
    yield made
    made.close()


def test_the_projector_that_was_chosen_is_loaded_and_weighed(seeing):
    [running] = seeing.supervisor.running()
    row = next(setting for setting in running.settings if setting.name == "projector")
    assert row.requested == row.effective == running.load.projector
    file_bytes = seeing.parts.beside(running.load).projector_bytes
    told = running.buffers["projector_bytes"]
    assert 0.9 * file_bytes < told < PROJECTOR_NEED * file_bytes
    assert running.buffers["weights_bytes"] > 90 << 20


def test_a_picture_is_sixteen_tokens_of_the_prompt(seeing):
    plain = seeing.prompt_tokens()
    assert seeing.prompt_tokens(image_part(png())) == plain + TOKENS
    assert (
        seeing.prompt_tokens(image_part(png(300, 20)), image_part(png(SIDE, SIDE, (0, 0, 250)))) == plain + 2 * TOKENS
    )
    assert seeing.prompt_tokens() == plain


def test_another_picture_may_have_another_answer_and_the_same_has_the_same(seeing):
    red, blue = (
        seeing.ask(image_part(png(colour=colour)), max_tokens=1, logprobs=True) for colour in ((250, 0, 0), (0, 0, 250))
    )
    again = seeing.ask(image_part(png(colour=(250, 0, 0))), max_tokens=1, logprobs=True)
    told = [reply.json["choices"][0]["logprobs"]["content"][0] for reply in (red, blue, again)]
    assert told[0]["logprob"] == pytest.approx(told[2]["logprob"], abs=1e-3)
    assert told[0]["logprob"] != pytest.approx(told[1]["logprob"], abs=1e-6)


def test_a_streamed_answer_counts_the_picture_too(seeing):
    plain = seeing.prompt_tokens()
    reply = seeing.ask(image_part(png()), stream=True, stream_options={"include_usage": True})
    usage = [found for event in events(reply) if event != "[DONE]" and (found := as_json(event).get("usage"))]
    assert usage[-1]["prompt_tokens"] == plain + TOKENS


def as_json(event):
    return event if isinstance(event, dict) else json.loads(event)


def test_a_broken_picture_is_named_and_the_next_one_is_seen(seeing):
    reply = seeing.ask(image_part(png()[:-40]))
    told = (reply.status, reply.error["code"], reply.error["param"])
    assert told == (400, "message.image_unread", "messages[0].content[1].image_url")
    assert seeing.ask(image_part(png())).status == 200


def test_an_address_is_not_fetched(seeing):
    reply = seeing.ask({"type": "image_url", "image_url": {"url": "http://127.0.0.1:9/a.png"}})
    assert (reply.status, reply.error["code"]) == (400, "message.image")


def test_the_marker_of_pictures_in_a_text_is_text(seeing):
    assert seeing.ask("<__media__>", "<image>").status == 200


def test_a_model_without_a_projector_says_so(supervisor, smollm2, tmp_path):
    library = Library([smollm2.parent])
    library.scan()
    port = Port(gateway(library, supervisor, RequestRecords(10)))
    port.start(0)
    try:
        body = {"model": NAME, "messages": [{"role": "user", "content": [image_part(png())]}]}
        reply = send(port, chat(body))
    finally:
        port.stop()
    assert (reply.status, reply.error["code"]) == (400, "message.no_projector")
    assert NAME in reply.error["message"]


def load_with(model, file, **more):
    return Load(str(model.path), alias=model.id, **{"context": 512, "threads": 1, "projector": str(file), **more})


@pytest.mark.parametrize(
    ("width", "changes", "code"),
    [
        (512, {}, "engine.projector_mismatch"),
        (WIDTH, {"clip.projector_type": "of tomorrow"}, "engine.projector_refused"),
    ],
)
def test_one_of_another_model_is_told_before_and_classed_after(seeing, supervisor, tmp_path, width, changes, code):
    file = projector(tmp_path / "mmproj.gguf", width, **changes)
    found = pairing(Role.PROJECTOR, header_at(file), seeing.model.info)
    assert found == Pairing(width == WIDTH, Compared.EMBEDDING, width, WIDTH)
    with pytest.raises(EngineFailed) as failure:
        supervisor.load(seeing.model, load_with(seeing.model, file)).result(WAIT_S)
    assert failure.value.code == code


def test_stop_while_a_picture_is_encoded(seeing, supervisor, tmp_path):
    """6,400 patches, whose encoding alone takes some tenths of a second."""
    file = projector(tmp_path / "mmproj.gguf", WIDTH, side=1120)
    lease = supervisor.lease(seeing.model, load_with(seeing.model, file, context=8192)).result(WAIT_S)
    outcome = []
    asking = threading.Thread(target=lambda: outcome.append(outcome_of(lease, image_part(png(1120, 1120)))))
    asking.start()
    until = time.monotonic() + WAIT_S
    while not (lines := logged(supervisor, "encoding mtmd")) and time.monotonic() < until:
        time.sleep(0.01)
    supervisor.stop(seeing.model.id).result(WAIT_S)
    asking.join(WAIT_S)
    lease.give_back()
    assert lines and outcome == ["broke off"]
    assert not supervisor.running() or supervisor.running()[0].state is State.STOPPED


def logged(supervisor, word):
    return [line for one in supervisor.running() for line in supervisor.log(one.model_id) if word in line]


def outcome_of(lease, *parts):
    """Of a question that goes to the engine itself."""
    body = json.dumps({"messages": [{"role": "user", "content": [*parts]}], "max_tokens": 4}).encode()
    head = {**lease.headers, "Content-Type": "application/json"}
    try:
        with urlopen(Request(lease.address("/chat/completions"), body, head), timeout=WAIT_S) as answer:
            answer.read()
    except (OSError, HTTPException):
        return "broke off"
    return "answered"
