"""Starts `transformers serve` and holds it to what it does not do by itself.

It has a key, and knows a limit of the context: a longer prompt is refused with both numbers. Tokens are chosen as a
request says, also where the model's own settings do not sample. Chat templates are rendered in a process with limits.
Its errors are told as OpenAI's are.

Run by path, by the server's own Python: `transformers_serve.py serve [ARGUMENT ...]`. Key and context come by
environment. Another version of transformers may have other parts: then it says so, and ends.
"""

from __future__ import annotations

import copy
import hmac
import json
import os
import sys
import threading
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weighbridge_engines.templates import Renderer

PACKAGE = "weighbridge_engines"
KEY_VARIABLE = "WEIGHBRIDGE_ENGINE_KEY"
CONTEXT_VARIABLE = "WEIGHBRIDGE_CONTEXT"
TEMPLATE_ERROR = "template_error"
"""As in `api`, which this file cannot import where it runs."""

OPEN = ("/health",)
"""Routes for which no key is asked."""

Scope = MutableMapping[str, Any]
App = Callable[[Scope, Any, Any], Awaitable[None]]


@dataclass(frozen=True)
class Held:
    """What the server is held to: its `key` ("": none), and the context that was asked for, in tokens."""

    key: str
    context: int | None = None

    def context_of(self, model: Any) -> int | None:
        """What one request may have: what was asked for, and no more than `model` was trained for."""
        trained = trained_context(model)
        told = [tokens for tokens in (self.context, trained) if tokens is not None]
        return min(told, default=None)


def trained_context(model: Any) -> int | None:
    """How long a text `model` was trained for, in tokens; None where its settings do not say, or it has no limit."""
    told = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    return told if isinstance(told, int) and told > 0 else None


def ours(name: str) -> Any:
    """A module of this folder, which is not on the path: its names are not for the server."""
    if PACKAGE not in sys.modules:
        package = ModuleType(PACKAGE)
        package.__path__ = [str(Path(__file__).parent)]
        sys.modules[PACKAGE] = package
    return import_module(f"{PACKAGE}.{name}")


class Guard:
    """Lets in whoever has the key."""

    def __init__(self, app: App, key: str) -> None:
        self._app, self._key = app, key.encode()

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """One connection."""
        if scope["type"] != "http" or scope["path"] in OPEN or self._has_key(scope):
            await self._app(scope, receive, send)
            return
        body = json.dumps({"error": {"code": 401, "type": "authentication_error", "message": "Invalid API Key"}})
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": body.encode()})

    def _has_key(self, scope: Scope) -> bool:
        told = dict(scope["headers"]).get(b"authorization", b"")
        return hmac.compare_digest(told, b"Bearer " + self._key)


class Templates:
    """Renders the templates of the server in a process with limits. Threads wait for each other."""

    def __init__(self, renderer: Renderer) -> None:
        self._renderer = renderer
        self._turn = threading.Lock()

    def render(self, template: str, values: Mapping[str, Any]) -> str:
        """As `templates.Renderer.render`."""
        with self._turn:
            return self._renderer.render(template, values)


class Compiled:
    """Stands for a template that the server has compiled."""

    def __init__(self, template: str, environment: Any, templates: Templates) -> None:
        self.environment = environment
        self._template = template
        self._templates = templates

    def render(self, **values: Any) -> str:
        """The text."""
        return self._templates.render(self._template, values)


def main(argv: list[str]) -> object:
    """Serve, as the console script would; what it returns is the exit status."""
    context = os.environ.pop(CONTEXT_VARIABLE, "")
    held = Held(os.environ.pop(KEY_VARIABLE, ""), int(context) if context else None)
    try:
        hold(held)
    except (ImportError, AttributeError, NameError) as error:
        print(f"weighbridge: this version of transformers is not known: {error}", flush=True)  # noqa: T201
        return 1
    sys.argv = ["transformers", *argv]
    return import_module("transformers.cli.transformers").main()


def hold(held: Held) -> None:
    """Change the server's own parts, before it is made of them. Raises ImportError and AttributeError where one is not
    there.
    """
    serving = {name: import_module(f"transformers.cli.serving.{name}") for name in _PARTS}
    templates = Templates(ours("templates").Renderer())
    _hold_templates(import_module("transformers.utils.chat_template_utils"), templates)
    _hold_loads(serving["model_manager"].ModelManager, held)
    for handler in (serving["chat_completion"].ChatCompletionHandler, serving["completion"].CompletionHandler):
        _hold_requests(handler)
    _hold_answers(serving["utils"].GenerateManager, held)
    _hold_batches(serving["utils"].CBGenerateManager, held)
    _hold_faults(serving["utils"]._StreamError)
    _hold_server(serving["server"], held)


_PARTS = ("utils", "model_manager", "chat_completion", "completion", "server")


def _hold_templates(utils: Any, templates: Templates) -> None:
    """An environment without a template is compiled at once: what is compiled of a template may be endless, too."""
    environment = utils._compile_jinja_template("").environment
    utils._compile_jinja_template = lambda template: Compiled(template, environment, templates)


def _hold_loads(manager: Any, held: Held) -> None:
    """A model that brings no template is spoken to in the usual form; what holds for it is told."""
    load_processor, load_model = manager._load_processor, manager._load_model

    def with_template(self: Any, *args: Any, **more: Any) -> Any:
        processor = load_processor(self, *args, **more)
        if not getattr(processor, "chat_template", None):
            processor.chat_template = ours("templates").CHATML
        return processor

    def with_context(self: Any, *args: Any, **more: Any) -> Any:
        model = load_model(self, *args, **more)
        threads = import_module("torch").get_num_threads()
        told = {"context": held.context_of(model), "trained context": trained_context(model), "dtype": model.dtype,
                "threads": threads}  # fmt: skip
        for name, value in told.items():
            _tell(name, value)
        return model

    manager._load_processor, manager._load_model = with_template, with_context


def _tell(name: str, value: object) -> None:
    """In the log, as the table of programs knows it."""
    print(f"weighbridge: {name} = {value}", flush=True)  # noqa: T201


def _hold_requests(handler: Any) -> None:
    answers, build = ours("transformers_answers"), handler._build_generation_config

    def built(self: Any, body: Mapping[str, Any], *args: Any, **more: Any) -> Any:
        config = build(self, {name: value for name, value in body.items() if name not in answers.TAKEN}, *args, **more)
        config.weighbridge = body
        return config

    handler._build_generation_config, handler._valid_params_class = built, None


def _hold_answers(manager: Any, held: Held) -> None:
    """What depends on the prompt: its length is known once it is in tokens."""

    def begun(self: Any, model: Any, inputs: Any, config: Any, request_id: str) -> Any:
        del request_id
        answers, asked, tokens = ours("transformers_answers"), _asked(config), inputs["input_ids"].shape[-1]
        answers.choose(config, asked)
        answers.limit(config, asked, tokens, held.context_of(model))
        if processors := answers.penalties(asked, tokens):
            inputs["logits_processor"] = processors
        self.submit(_seed, asked.get("seed"))
        return ours("pieces").Pieces(answers.stops(asked))

    _begin_by(manager, begun)


def _hold_batches(manager: Any, held: Held) -> None:
    """Where answers are computed together, each is told apart by the id of its request."""
    answers, init = ours("transformers_answers"), manager.init_cb
    chosen: dict[str, Mapping[str, Any]] = {}

    def init_open(self: Any, model: Any, gen_config: Any) -> None:
        if self._cb is not None:
            return
        config = copy.deepcopy(gen_config)
        _asked(config)
        answers.open_to_all(config)
        self._cb_config = self._cb_config or import_module("transformers").ContinuousBatchingConfig()
        self._cb_config.per_request_processors = True
        if (cache_tokens := answers.bound_batch(self._cb_config, held.context_of(model))) is not None:
            _tell("cache tokens", cache_tokens)
        init(self, model, config)
        batch: Any = self._cb
        add = batch.add_request
        batch.add_request = lambda tokens, request_id, **more: add(
            tokens, request_id=request_id, **more, **chosen.pop(request_id)
        )

    def begun(self: Any, model: Any, inputs: Any, config: Any, request_id: str) -> Any:
        asked = _asked(config)
        samplers = answers.choose_in_batch(config, asked)
        answers.limit(config, asked, len(inputs["input_ids"]), held.context_of(model))
        chosen[request_id] = samplers
        return ours("pieces").Pieces(answers.stops(asked))

    manager.init_cb = init_open
    _begin_by(manager, begun)


def _asked(config: Any) -> Mapping[str, Any]:
    """The request that `config` was built for, which it keeps no longer; of another route what it says itself."""
    asked: Mapping[str, Any] = config.__dict__.pop("weighbridge", {"max_tokens": config.max_new_tokens})
    return asked


def _begin_by(manager: Any, begun: Callable[..., Any]) -> None:
    """Have each answer of `manager` begun by `begun`, which gives what its text is cut by."""
    stream, whole = manager.generate_streaming, manager.generate_non_streaming

    def streaming(
        self: Any, model: Any, processor: Any, inputs: Any, gen_config: Any, request_id: str, **more: Any
    ) -> Any:
        pieces = begun(self, model, inputs, gen_config, request_id)
        queue, streamer = stream(self, model, processor, inputs, gen_config, request_id, **more)
        return ours("transformers_answers").Cut(queue, pieces, streamer), streamer

    async def non_streaming(
        self: Any, model: Any, processor: Any, inputs: Any, gen_config: Any, request_id: str, **more: Any
    ) -> Any:
        pieces = begun(self, model, inputs, gen_config, request_id)
        text, *rest = await whole(self, model, processor, inputs, gen_config, request_id, **more)
        return (pieces.feed(text.encode("utf-8", "replace")) + pieces.rest(), *rest)

    manager.generate_streaming, manager.generate_non_streaming = streaming, non_streaming


def _seed(seed: int | None) -> None:
    """On the thread that answers, right before it does. Without one, each answer is another."""
    torch = import_module("torch")
    if seed is None or seed < 0:
        torch.seed()
    else:
        torch.manual_seed(seed)


def _hold_faults(fault: Any) -> None:
    """Its words are put into JSON as they are: with a quotation mark they would be none."""
    make = fault.__init__

    def made(self: Any, words: str) -> None:
        make(self, json.dumps(words)[1:-1])

    fault.__init__ = made


def _hold_server(server: Any, held: Held) -> None:
    build = server.build_server

    def built(*args: Any, **more: Any) -> Any:
        app = build(*args, **more)
        if held.key:
            app.add_middleware(Guard, key=held.key)
        for kind, told in _refusals().items():
            app.add_exception_handler(kind, _answer(server, told))
        return app

    server.build_server = built


def _refusals() -> Mapping[type[Exception], Callable[[Any], Mapping[str, Any]]]:
    """How each error is told, with its HTTP status as `code`."""
    templates = ours("templates")
    too_long = {"code": 400, "type": "exceed_context_size_error", "message": "the request exceeds the context"}
    bad = {"code": 400, "type": TEMPLATE_ERROR, "param": "messages"}
    return {
        ours("transformers_answers").NotInBatch: lambda error: {
            "code": 400, "type": "invalid_request_error", "param": str(error),
            "message": f"with continuous batching this engine has no {error}",
        },
        ours("transformers_answers").TooLong: lambda error: {
            **too_long, "n_prompt_tokens": error.prompt_tokens, "n_ctx": error.context,
        },
        templates.Objected: lambda error: {
            **bad, "message": f"the model's chat template takes no such messages: {error}",
        },
        templates.Failed: lambda error: {**bad, "message": str(error)},
        Exception: lambda error: {
            "code": 500, "type": "server_error", "message": f"{type(error).__name__}: {error}"[:500],
        },
    }  # fmt: skip


def _answer(server: Any, told: Callable[[Any], Mapping[str, Any]]) -> Callable[[Any, Any], Any]:
    def answer(request: Any, error: Exception) -> Any:
        del request
        fault = told(error)
        return server.JSONResponse({"error": fault}, status_code=fault["code"])

    return answer


if __name__ == "__main__":
    sys.path.pop(0)  # this folder, whose modules are not for the server
    sys.exit(main(sys.argv[1:]))  # type: ignore[arg-type] # as a console script
