"""The contract between Weighbridge and an engine.

An engine is a process with an OpenAI-style port on loopback. One file, one `ENGINE = Engine(...)`. All that stands in
the `Engine` record can be read without importing anything heavy; the functions in it import what they need when called.

An engine runs in exactly one of four ways:

- `command(load, port)`: the argv of a server program;
- `serve(load, port, key)`: a library that brings its own server; called in a child, returns when the server has ended;
- `open(load)`: a library that generates; the worker hosts the returned `Session` behind its own HTTP loop;
- `attach(url)`: a server that someone else runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from weighbridge_engines.controls import Control

KEY_VARIABLE = "WEIGHBRIDGE_ENGINE_KEY"
"""The environment variable that carries the engine's key to its process: never an argument, which others can read."""

DRAFT_KINDS = ("simple", "eagle3", "mtp", "dflash", "dspark")
"""The kinds of draft models: a model of its own, or a head of one of these kinds."""

SPLIT_MODES = ("none", "layer", "row", "tensor")
"""How several cards share a model: not at all, by layers, or by parts of each matrix, in two ways."""

TASKS = ("chat", "embedding", "rerank")
"""What a model is loaded for."""

HOST = "Host"
"""How the system's memory is called where it stands among devices."""


class Capability(StrEnum):
    """What an engine can do, as data."""

    CHAT = "chat"
    COMPLETIONS = "completions"
    EMBEDDINGS = "embeddings"
    RERANK = "rerank"
    VISION = "vision"
    TOOLS = "tools"
    JSON_SCHEMA = "json_schema"
    GRAMMAR = "grammar"
    LOGPROBS = "logprobs"
    LORA = "lora"
    DRAFT = "draft"
    PARALLEL = "parallel"
    SCORE = "score"


@dataclass(frozen=True)
class Load:
    """What to load and how. None means: the engine's own choice.

    `alias` is the name under which the engine answers, `task` (of TASKS) what it is loaded for. `sampling` is what
    holds for requests that say nothing else, by a request's names; `extra` holds what only one engine understands. What
    both may hold is told by the engine's `controls`. `context` is the sum over all `slots`, in tokens, which they share
    where the cache is `unified`. `batch` and `micro_batch` are the tokens of a prompt handed over and computed at a
    time (without `micro_batch` the same). `gpu_layers` counts the output as one layer; `cpu_experts` is the number of
    first layers whose experts stay in host memory; `split` gives each GPU's share of the layers, `split_mode` (of
    SPLIT_MODES) is how they share, and `main_gpu` is the place among them of the one that holds what is not shared.
    `key_type` and `value_type` are those of the KV cache ("f16", "q8_0"). `whole_window` keeps all tokens where a layer
    needs only its window. `prompt_cache_mib` is host memory for what was read of earlier conversations, `checkpoints`
    how many states of layers that cannot go back are kept for each slot. `mapped` maps the file instead of reading it.
    `projector`, `draft` and `adapters` are files to load beside the model; `draft_kind`, of DRAFT_KINDS, is how a draft
    works: as a smaller model, or as a head that reads the model's own states; "mtp" without a draft is the model's own
    head. `adapter_scales` are how strongly each adapter acts where a request does not say (all 1 without). `template`
    is used instead of the file's own. `engine` is the id of the one that is to load it ("": the first that is here and
    can); where it is `in_process` that engine's library is hosted by the program itself.
    """

    model: str
    alias: str = ""
    context: int | None = None
    threads: int | None = None
    batch_threads: int | None = None
    slots: int = 1
    batch: int | None = None
    micro_batch: int | None = None
    unified: bool | None = None
    key_type: str | None = None
    value_type: str | None = None
    flash_attention: bool | None = None
    whole_window: bool | None = None
    prompt_cache_mib: int | None = None
    checkpoints: int | None = None
    gpu_layers: int | None = None
    cpu_experts: int | None = None
    split: tuple[float, ...] | None = None
    split_mode: str | None = None
    main_gpu: int | None = None
    mapped: bool | None = None
    projector: str | None = None
    draft: str | None = None
    draft_kind: str = "simple"
    adapters: tuple[str, ...] = ()
    adapter_scales: tuple[float, ...] = ()
    template: str | None = None
    task: str = "chat"
    engine: str = ""
    in_process: bool = False
    sampling: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Plain values, for the way to the worker."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Load:
        """The other end of `as_json`."""
        told = {name: _frozen(value) for name, value in values.items()}
        extra = {name: _frozen(value) for name, value in values.get("extra", {}).items()}
        return cls(**{**told, "extra": extra})


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


@dataclass(frozen=True)
class Row:
    """One row of the table in which an engine tells what a load would take, in bytes.

    `device` is an id as in `devices()`, or the name of a kind of host memory where `host` is True. `context_bytes` are
    the KV cache and the state of recurrent layers.
    """

    device: str
    host: bool
    model_bytes: int
    context_bytes: int
    compute_bytes: int

    @property
    def total_bytes(self) -> int:
        """All three."""
        return self.model_bytes + self.context_bytes + self.compute_bytes


@dataclass(frozen=True)
class Cause:
    """Why something is not possible or went wrong: a code, and the values that its sentence needs."""

    code: str
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Device:
    """What an engine build can compute on. `kind` is "cpu", "gpu" (dedicated memory) or "shared"."""

    id: str
    name: str
    kind: str
    memory_total_bytes: int | None = None
    memory_free_bytes: int | None = None
    pci_id: str | None = None


@dataclass(frozen=True)
class FileFacts:
    """What an engine is told of a file before it is asked to load it: its `format` ("gguf", "mlx"), the `architecture`
    as the file names it, and the types of its tensors ("Q4_K", "BF16"), the last two None where they are not known.
    """

    format: str
    architecture: str | None = None
    tensor_types: frozenset[str] | None = None


@dataclass(frozen=True)
class Dialect:
    """How a server is spoken to. The default is what llama.cpp's server and `hosting` understand.

    `base_path` stands before each route ("/v3" where chats are at "/v3/chat/completions"). `health` is the route that
    answers 200 once the model is loaded, "" where there is none: then the first token tells. `fields` are those of a
    request that it understands, None for all; others are left out on the way to it. `ready_s` is how long a load may
    take at most before it counts as hung; None: as long as it shows that it goes on. `uncached` are the fields of a
    request with which it reads the whole prompt anew, whatever it knows from before; empty where it has none. `limit`
    is its name for the field that says how many tokens an answer may have, which others call "max_tokens".
    """

    base_path: str = "/v1"
    health: str = "/health"
    fields: frozenset[str] | None = None
    ready_s: float | None = None
    uncached: Mapping[str, Any] = field(default_factory=dict)
    limit: str = "max_tokens"

    def limited(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """`body` with its "max_tokens" called as this server calls it."""
        return {self.limit if name == "max_tokens" else name: value for name, value in body.items()}


UNCACHED: Mapping[str, Any] = {"cache_prompt": False}
"""The `uncached` of llama.cpp's server, and of a library whose session keeps to `Request.cache_prompt`."""


@dataclass(frozen=True)
class Hardware:
    """What an engine computes on, and what it is told of cards. `vendors` are the makers of cards that it can use, of
    the `least_compute_capability` of NVIDIA's at least; `processor`: it works without any, in builds that have
    `processor_build` in their version ("": in all of them). `share` says of what its
    setting "memory_share" is a share: "all" of a card's memory for all that lies there, "static" of a card's memory for
    weights and cache, "rest" of what is free once the weights are loaded, for the cache; "" where it has none.
    `without_card` are settings, by name, that are asked for where no card is used and nothing else is said, but for
    processors with one of the extensions `unless_with`, as `hardware.cpu` names them.
    """

    vendors: frozenset[str] = frozenset()
    processor: bool = True
    processor_build: str = ""
    least_compute_capability: str | None = None
    share: str = ""
    without_card: Mapping[str, Any] = field(default_factory=dict)
    unless_with: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Request:
    """One chat request, for a `Session`.

    Each message has a known role and a text as its content. `sampling` are the values that the caller did not leave to
    the engine, by the names of `sampling.NUMBERS`. The answer obeys `schema` (JSON) or `grammar` (GBNF), if one is
    given. `logprobs` is how many other tokens are told beside each, None where none are asked for. `template_values`
    are for the chat template. `logit_bias` is added to the logits of tokens. Without `cache_prompt` the whole prompt is
    read, whatever is known of it from before.
    """

    messages: Sequence[Mapping[str, Any]]
    max_tokens: int | None = None
    stop: Sequence[str] = ()
    sampling: Mapping[str, float] = field(default_factory=dict)
    logit_bias: Mapping[int, float] = field(default_factory=dict)
    ignore_eos: bool = False
    schema: Mapping[str, Any] | None = None
    grammar: str | None = None
    logprobs: int | None = None
    template_values: Mapping[str, Any] = field(default_factory=dict)
    cache_prompt: bool = True


@dataclass(frozen=True)
class TokenLogprob:
    """A token as its bytes, its log-probability among all before sampling, and the likeliest in its place."""

    data: bytes
    logprob: float
    likeliest: Sequence[tuple[bytes, float]] = ()


@dataclass(frozen=True)
class Chunk:
    """A piece of an answer, or of the reading of the prompt, with its own statistics.

    `tokens` is how many tokens the piece stands for (0 while the prompt is read). `prompt_done` of `prompt_total`
    tokens of the prompt are read, `prompt_cached` of them before this request. `finish` is "stop" or "length" on the
    last piece. Speeds are per second, None until known. `logprobs` are those of its tokens, where they are asked for.
    """

    text: str = ""
    tokens: int = 0
    prompt_done: int | None = None
    prompt_total: int | None = None
    prompt_cached: int = 0
    prompt_tps: float | None = None
    decode_tps: float | None = None
    finish: str | None = None
    logprobs: Sequence[TokenLogprob] = ()


SILENCE = Chunk()
"""Nothing has come for a while: a chance to look whether anyone still listens."""


class ContextExceeded(Exception):
    """Raised by a session's stream where the prompt is longer than the context. Both in tokens."""

    def __init__(self, prompt_tokens: int, context: int) -> None:
        super().__init__(prompt_tokens, context)
        self.prompt_tokens = prompt_tokens
        self.context = context


class RequestRefused(Exception):
    """Raised by a session where a request cannot be met by this engine or this model, and would not be the next time.

    `reason` is in English, as a port's answers are; `field` is the one of the request that it is about.
    """

    def __init__(self, reason: str, field: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.field = field


TEMPLATE_ERROR = "template_error"
"""The type of a port's answer where the model's chat template cannot be rendered, or refuses the messages."""


class TemplateRefused(RequestRefused):
    """Where it is the model's chat template that is at fault, or that refuses the messages; `reason` has its words."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, "messages")


class Unsupported(Exception):
    """Raised where an engine, or this very build of it, has no way to do what a load asks for; `cause` says what."""

    def __init__(self, cause: Cause) -> None:
        super().__init__(cause)
        self.cause = cause


class Session(Protocol):
    """A loaded model that generates. Closing the iterator ends the work.

    Unless its engine is PARALLEL, all of a session is called by one thread, the one that opened it.
    """

    def stream(self, request: Request) -> Iterator[Chunk]:
        """The answer, piece by piece. Raises ContextExceeded and RequestRefused before the first piece."""

    def close(self) -> None:
        """Give everything back."""


class ScoringSession(Session, Protocol):
    """The session of an engine that can SCORE."""

    def tokens(self, text: str) -> Sequence[int]:
        """The tokens of `text`, after the token that begins every text where the model has one."""

    def score(self, tokens: Sequence[int]) -> Iterator[Sequence[float | None]]:
        """The natural logarithm of each token's probability after those before it, some tokens at a time; None for the
        first, before which there is nothing. Raises ContextExceeded, and RequestRefused for a token that is none.
        """


def suits_all(facts: FileFacts) -> Cause | None:
    """The `suits` of an engine that runs every file of its formats, as far as anyone can tell."""
    del facts
    return None


def alias_of(load: Load) -> str:
    """The `name_of` of an engine that is told the name under which it answers."""
    return load.alias or load.model


def no_check(load: Load) -> None:
    """The `check` of an engine that takes whatever a load says."""
    del load


def no_schema_check(schema: object) -> None:
    """The `check_schema` of an engine that has no schemas, or checks them itself."""
    del schema


def no_devices() -> list[Device]:
    """The `devices` of an engine that cannot tell."""
    return []


def no_environment(load: Load) -> Mapping[str, str]:
    """The `environment_of` of an engine that is told nothing of a load by environment."""
    del load
    return {}


def no_report(line: str) -> Mapping[str, int | float | str | bool]:
    """The `report` of an engine whose log tells nothing."""
    del line
    return {}


def no_row(line: str) -> Row | None:
    """The `row` of an engine that has no table."""
    del line
    return None


def no_listing(text: str) -> list[Device] | None:
    """The `read_listing` of an engine that lists nothing."""
    del text
    return None


def no_diagnosis(log: Sequence[str], exit_code: int | None) -> Cause | None:
    """The `diagnose` of an engine whose log tells nothing."""
    del log, exit_code
    return None


@dataclass(frozen=True)
class Engine:
    """One engine, as data. See the module's text for the four ways to run.

    `missing()`: None, or what is missing and how to get it. `devices()`: what this build can use (call it in a child);
    raises Unsupported where that is nothing and it knows why.
    `report(line)`: effective values and buffer sizes in one line of the engine's log; keys are those of `Load`, and
    "weights_bytes", "kv_bytes", "state_bytes", "compute_bytes", "output_bytes" (each line's figure is added to the
    sum) with "device" (in whose memory that is: an id as in `devices()`, or HOST), "stage" (one of STAGES; "done" of
    "total" are steps of it), and "port" (the one that it really listens on). "device" without a size is what it
    computes on, with "because", the code of a reason, where it chose so itself; "unused" is the name of a
    setting that is of no use there.
    `diagnose(log, exit_code)`: the cause of an end, by the engine's own words; a negative exit code is the signal that
    ended it. `knows_keys`: False for an engine that answers anyone on loopback.

    `size(load)`, called in a child: prints the table of what `load` would take, without reading weights; the child is
    ended at the table's last row, whatever it does next. `size_command(load)`: the argv of a program that does so.
    `row(line)`: one row of that table, whose rows follow each other without a line between.

    `bandwidth()`, called in a child: how fast the memory of each device was read just now, in bytes per second, by the
    ids of `devices()`. It takes about a second a device; one that cannot be measured is left out, never guessed.

    `open_here(load, say, stopped)` is `open` for a program that hosts the library itself: each line of the library's
    log goes to `say`, on the thread that opens, and a load is given up once `stopped()`. None where the library may
    only run in a process of its own.

    `suits(facts)` is why it cannot run a file of its formats: an architecture or a type that it does not know; None
    where it can, or nobody can tell. `dialect` is how its server is spoken to, and `name_of(load)` what its model is
    called in a request.

    `controls` are the settings of a load that it knows, as data; `check(load)` raises Unsupported where it could not
    follow one, before anything is started. `said(load)` is the command line of a program of the same engine that would
    do the same, without any key. `check_schema(schema)` raises RequestRefused where it would pass over a part of a JSON
    schema in silence; one that is hosted by `hosting` checks for itself.

    One engine may be here in several builds. `build` is the id of this one, "" for a library beside this program.
    `python` is the Python whose environment holds the library, where that is not ours; its worker is started with
    `host`, a folder that holds this package alone, as the one addition to that Python's path. `program` is the path of
    a server program; `listing` the argv that prints what it can use, `read_listing(text)` those devices, None where
    the text is no such list. `key_variable` is the environment variable in which it looks for its key.

    `placed(path)` is the same engine as the Python at `path` starts it, or as the program or the folder at `path`; None
    where `python` and `program` say it all. It is started in `folder`, where that matters. `environment_of(load)` are
    variables that a load sets, `own_key()` the key of a server that has one of its own. `hardware` is what it computes
    on; None where its devices tell. `notes` are what somebody should know before using it: codes, or texts of the user.
    `yours`: the user has described it. `known_as` is the name by which its program, or a script in its folder, is
    known; "" where it has none of its own.
    """

    id: str
    title: str
    formats: frozenset[str]
    capabilities: frozenset[Capability]
    install: str
    missing: Callable[[], Cause | None]
    devices: Callable[[], list[Device]] = no_devices
    version: Callable[[], str | None] = lambda: None
    command: Callable[[Load, int], list[str]] | None = None
    serve: Callable[[Load, int, str], None] | None = None
    open: Callable[[Load], Session] | None = None
    open_here: Callable[[Load, Callable[[str], None], Callable[[], bool]], Session] | None = None
    attach: Callable[[str], str] | None = None
    report: Callable[[str], Mapping[str, int | float | str | bool]] = no_report
    diagnose: Callable[[Sequence[str], int | None], Cause | None] = no_diagnosis
    bandwidth: Callable[[], Mapping[str, float]] | None = None
    size: Callable[[Load], None] | None = None
    size_command: Callable[[Load], list[str]] | None = None
    row: Callable[[str], Row | None] = no_row
    controls: tuple[Control, ...] = ()
    check: Callable[[Load], None] = no_check
    said: Callable[[Load], list[str]] | None = None
    check_schema: Callable[[object], None] = no_schema_check
    suits: Callable[[FileFacts], Cause | None] = suits_all
    dialect: Dialect = Dialect()
    name_of: Callable[[Load], str] = alias_of
    environment: Mapping[str, str] = field(default_factory=dict)
    knows_keys: bool = True
    build: str = ""
    python: str | None = None
    host: str | None = None
    program: str | None = None
    listing: Sequence[str] = ()
    read_listing: Callable[[str], list[Device] | None] = no_listing
    key_variable: str = KEY_VARIABLE
    placed: Callable[[str], Engine] | None = None
    folder: str | None = None
    environment_of: Callable[[Load], Mapping[str, str]] = no_environment
    own_key: Callable[[], str | None] | None = None
    hardware: Hardware | None = None
    notes: tuple[str, ...] = ()
    yours: bool = False
    known_as: str = ""


STAGES = ("starting", "kernels", "reading", "weights", "context", "warming", "ready")
"""The stages of a load, in order. Few engines have them all."""
