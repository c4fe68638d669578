"""What holds `transformers serve` to a request, on a stand-in for its parts that is as those of its version 5.24."""

import asyncio
import sys
from types import ModuleType, SimpleNamespace

import pytest

from weighbridge_engines import transformers_serve
from weighbridge_engines.api import TEMPLATE_ERROR
from weighbridge_engines.pieces import Pieces
from weighbridge_engines.templates import Failed
from weighbridge_engines.transformers_answers import (
    AT_ONCE,
    EVERY_TOKEN,
    Cut,
    NotInBatch,
    Penalties,
    TooLong,
    bound_batch,
    choose,
    choose_in_batch,
    limit,
    penalties,
)
from weighbridge_engines.transformers_serve import Guard, Held


def config(**values):
    plain = {"do_sample": False, "temperature": None, "top_k": None, "top_p": None, "max_new_tokens": 1024}
    return SimpleNamespace(**{**plain, "sequence_bias": None, "repetition_penalty": None, **values})


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({}, {"do_sample": False}),
        ({"seed": 3}, {"do_sample": False}),
        ({"temperature": 0.7, "top_k": None}, {"do_sample": True, "temperature": 0.7, "top_k": None}),
        ({"top_p": 0.9}, {"do_sample": True, "top_p": 0.9, "temperature": None}),
        ({"temperature": 0, "top_p": 0.9}, {"do_sample": False, "temperature": None, "top_p": None}),
        ({"temperature": 1.5, "top_k": 1}, {"do_sample": False, "top_k": None}),
        ({"repeat_penalty": 1.2}, {"do_sample": False, "repetition_penalty": 1.2}),
        ({"logit_bias": {"7": False, "8": 2}}, {"sequence_bias": {(7,): -1e9, (8,): 2.0}}),
        ({"logit_bias": [[7, -1]]}, {"sequence_bias": {(7,): -1.0}}),
    ],
)
def test_tokens_are_chosen_as_a_request_says_where_the_model_does_not_sample(asked, told):
    made = config()
    choose(made, asked)
    assert {name: getattr(made, name) for name in told} == told


def test_what_a_model_recommends_holds_for_what_a_request_leaves_open():
    made = config(do_sample=True, temperature=0.6, top_p=0.95)
    choose(made, {"top_p": 0.5})
    assert (made.do_sample, made.temperature, made.top_p) == (True, 0.6, 0.5)


def test_in_a_batch_each_answer_has_its_own_choice():
    usual = {"temperature": 1.0, "top_k": EVERY_TOKEN, "top_p": 1.0}
    assert choose_in_batch(config(), {"temperature": 0}) == {**usual, "top_k": 1}
    assert choose_in_batch(config(), {}) == {**usual, "top_k": 1}
    assert choose_in_batch(config(), {"temperature": 2, "min_p": 0}) == {**usual, "temperature": 2.0}
    with pytest.raises(NotInBatch, match="seed"):
        choose_in_batch(config(), {"seed": 4})


@pytest.mark.parametrize(
    ("asked", "prompt", "context", "most"),
    [
        ({}, 100, 4096, 3996),
        ({"max_tokens": 10}, 100, 4096, 10),
        ({"max_tokens": 10, "max_completion_tokens": 20}, 100, 4096, 20),
        ({"max_tokens": 10, "max_completion_tokens": None}, 100, 4096, 10),
        ({"max_tokens": 9999}, 100, 4096, 3996),
        ({"max_tokens": -1}, 4095, 4096, 1),
        ({"max_tokens": 10}, 100, None, 10),
        ({}, 100, None, 1024),
    ],
)
def test_an_answer_ends_where_the_context_does(asked, prompt, context, most):
    made = config()
    limit(made, asked, prompt, context)
    assert made.max_new_tokens == most


def test_a_prompt_without_room_for_an_answer_is_refused_with_both_numbers():
    with pytest.raises(TooLong) as refusal:
        limit(config(), {}, 8192, 8192)
    assert (refusal.value.prompt_tokens, refusal.value.context) == (8192, 8192)


def test_penalties_are_for_what_the_answer_holds():
    numpy = pytest.importorskip("numpy")
    assert penalties({"frequency_penalty": 0, "presence_penalty": None}, 2) == []
    scores = Penalties(2, 0.5, 1.0)(numpy.array([[1, 1, 2, 2, 3]]), numpy.zeros((1, 5)))
    assert scores.tolist() == [[0, 0, -2.0, -1.5, 0]]


class Queue(asyncio.Queue):
    def __init__(self, *items):
        super().__init__()
        for item in items:
            self.put_nowait(item)


class Marked(str):
    """As the server marks what is thought."""


async def told_by(cut):
    """As the server reads: one, then all that is there."""
    told = [await cut.get()]
    while told[-1] is not None:
        try:
            told.append(cut.get_nowait())
        except asyncio.QueueEmpty:
            told.append(await cut.get())
    return told


@pytest.mark.parametrize(
    ("items", "text", "cancelled"),
    [
        (["a lo", "ng s", "ea, and", None], ["a lo", "ng ", "", None], 1),
        (["a s", None], ["a ", "s", None], 0),
        ([Marked("sea"), "so", None], ["sea", "so", None], 0),
    ],
)
def test_an_answer_ends_before_its_stop_text(items, text, cancelled):
    ended = []
    cut = Cut(Queue(*items), Pieces(["sea"]), SimpleNamespace(cancel=lambda: ended.append(1)))
    assert asyncio.run(told_by(cut)) == text
    assert len(ended) == cancelled


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/v1/models", [], 401),
        ("/v1/models", [(b"authorization", b"Bearer no")], 401),
        ("/v1/models", [(b"authorization", b"Bearer key")], 200),
        ("/health", [], 200),
    ],
)
def test_only_who_has_the_key_is_let_in(path, headers, status):
    sent = []

    async def app(scope, receive, send):
        await send({"status": 200})

    async def send(event):
        sent.append(event)

    asyncio.run(Guard(app, "key")({"type": "http", "path": path, "headers": headers}, None, send))
    assert sent[0]["status"] == status


@pytest.mark.parametrize(("asked", "trained", "context"), [(4096, 8192, 4096), (9000, 8192, 8192), (9000, None, 9000)])
def test_a_context_is_no_longer_than_the_model_was_trained_for(asked, trained, context):
    assert Held("", asked).context_of(model(trained)) == context


def model(trained):
    settings = SimpleNamespace(max_position_embeddings=trained)
    return SimpleNamespace(config=SimpleNamespace(get_text_config=lambda: settings), dtype="torch.float32")


class Manager:
    """As the server's, for one answer at a time: it answers with what it was given."""

    def __init__(self):
        self.done = []

    def submit(self, work, *values):
        self.done.append(values)

    def generate_streaming(self, model, processor, inputs, gen_config, request_id, response_parser=None):
        return Queue("ab", None), SimpleNamespace(cancel=lambda: None)

    async def generate_non_streaming(self, model, processor, inputs, gen_config, request_id):
        return "abc", 3, [1, 2]


class Batch:
    def __init__(self):
        self.added = []

    def add_request(self, tokens, request_id=None, **more):
        self.added.append((request_id, more))


class BatchManager(Manager):
    def __init__(self):
        self._cb = None
        self._cb_config = SimpleNamespace(page_size=16, num_blocks=None, max_memory_percent=None)

    def init_cb(self, model, gen_config):
        self._cb, self.made_with = Batch(), gen_config

    def generate_streaming(self, model, processor, inputs, gen_config, request_id, response_parser=None):
        self._cb.add_request(inputs["input_ids"], request_id=request_id, max_new_tokens=gen_config.max_new_tokens)
        return Queue(None), SimpleNamespace(cancel=lambda: None)


class Handler:
    _valid_params_class = object

    def _build_generation_config(self, body, model_config, use_cb=False):
        assert not {"temperature", "seed"} & body.keys()
        return config(stop_strings=body.get("stop"))


@pytest.fixture
def parts(monkeypatch):
    """The server's own parts, held to a context of 100 tokens and to a key."""
    made = {
        "utils": {
            "GenerateManager": type("G", (Manager,), {}),
            "CBGenerateManager": type("C", (BatchManager,), {}),
            "_StreamError": type("E", (), {"__init__": lambda self, msg: setattr(self, "msg", msg)}),
        },
        "model_manager": {
            "ModelManager": type("M", (), {"_load_processor": lambda self: None, "_load_model": lambda self: None})
        },
        "chat_completion": {"ChatCompletionHandler": type("H", (Handler,), {})},
        "completion": {"CompletionHandler": type("I", (Handler,), {})},
        "server": {"build_server": App},
    }
    names = {f"transformers.cli.serving.{name}": values for name, values in made.items()}
    compiled = SimpleNamespace(environment="environment")
    names["transformers.utils.chat_template_utils"] = {"_compile_jinja_template": lambda template: compiled}
    for name in ("transformers", "transformers.cli", "transformers.cli.serving", "transformers.utils", *names):
        module = ModuleType(name)
        module.__path__ = []
        module.__dict__.update(names.get(name, {}))
        monkeypatch.setitem(sys.modules, name, module)
    transformers_serve.hold(Held("key", 100))
    return SimpleNamespace(**{name: sys.modules[f"transformers.cli.serving.{name}"] for name in made})


class App:
    def __init__(self):
        self.middleware, self.told = [], {}

    def add_middleware(self, kind, **values):
        self.middleware.append((kind, values))

    def add_exception_handler(self, kind, handler):
        self.told[kind] = handler


def test_a_request_is_followed_on_the_thread_that_answers(parts):
    handler, manager = parts.chat_completion.ChatCompletionHandler(), parts.utils.GenerateManager()
    made = handler._build_generation_config({"temperature": 0.5, "seed": 9, "stop": ["b"]}, None)
    inputs = {"input_ids": SimpleNamespace(shape=(1, 40))}
    queue, _ = manager.generate_streaming(model(8192), None, inputs, made, request_id="1", response_parser=None)
    assert (made.do_sample, made.temperature, made.max_new_tokens) == (True, 0.5, 60)
    assert manager.done == [(9,)]
    assert asyncio.run(told_by(queue)) == ["a", None]
    assert not hasattr(made, "weighbridge")
    whole = manager.generate_non_streaming(model(8192), None, inputs, made, request_id="2")
    assert asyncio.run(whole) == ("abc", 3, [1, 2])
    with pytest.raises(TooLong):
        manager.generate_streaming(model(40), None, inputs, made, request_id="3")
    other = config(max_new_tokens=7)
    manager.generate_streaming(model(8192), None, inputs, other, request_id="4")
    assert (other.max_new_tokens, other.do_sample) == (7, False)


def test_in_a_batch_a_request_is_followed_too(parts):
    handler, manager = parts.completion.CompletionHandler(), parts.utils.CBGenerateManager()
    made = handler._build_generation_config({"temperature": 0.5, "max_tokens": 7}, None, use_cb=True)
    manager.init_cb(model(8192), made)
    manager.generate_streaming(model(8192), None, {"input_ids": [1, 2]}, made, request_id="1")
    samplers = {"temperature": 0.5, "top_k": EVERY_TOKEN, "top_p": 1.0}
    assert manager._cb.added == [("1", {"max_new_tokens": 7, **samplers})]
    assert (manager.made_with.do_sample, manager._cb_config.per_request_processors) == (True, True)
    assert manager._cb_config.num_blocks == AT_ONCE * 7
    shared = SimpleNamespace(page_size=16, num_blocks=None, max_memory_percent=0.5)
    assert (bound_batch(shared, 4096), shared.num_blocks) == (None, None)


def test_the_server_asks_for_the_key_and_tells_errors_as_openai_does(parts):
    parts.server.JSONResponse = lambda content, status_code: (status_code, content)
    app = parts.server.build_server()
    assert app.middleware == [(Guard, {"key": "key"})]
    status, told = app.told[TooLong](None, TooLong(9000, 8192))
    assert (status, told["error"]["type"]) == (400, "exceed_context_size_error")
    assert (told["error"]["n_prompt_tokens"], told["error"]["n_ctx"]) == (9000, 8192)
    status, told = app.told[Failed](None, Failed("time", "more than 10 s"))
    assert (status, told["error"]["type"]) == (400, TEMPLATE_ERROR)
    assert app.told[Exception](None, ValueError("x"))[1]["error"]["message"] == "ValueError: x"
    assert parts.utils._StreamError('say "no"').msg == 'say \\"no\\"'


def test_another_version_is_told_as_such(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "transformers", ModuleType("transformers"))
    monkeypatch.setenv("WEIGHBRIDGE_CONTEXT", "4096")
    assert transformers_serve.main(["serve"]) == 1
    assert capsys.readouterr().out.startswith("weighbridge: this version of transformers is not known: ")
