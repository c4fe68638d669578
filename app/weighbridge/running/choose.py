"""Which engine runs a model, and how a load starts out. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace

from weighbridge.base.errors import EngineFailed, Refused
from weighbridge.formats.architectures import Kind
from weighbridge.hardware.machine import Machine
from weighbridge.library.model import Model
from weighbridge.running.ability import unable
from weighbridge.running.installing import TRIAL, command_for
from weighbridge.running.prompt_room import Checkpoints, no_checkpoints
from weighbridge_engines.api import Cause, Engine, FileFacts, Load, suits_all

PREFERRED = (
    "llama_server",
    "llama_cpp",
    "mlx",
    "exllamav3",
    "exllamav2",
    "openvino",
    "onnx_genai",
    "vllm",
    "sglang",
    "lmdeploy",
    "tabbyapi",
    "aphrodite",
    "transformers",
    "endpoint",
    TRIAL,
)
"""Engines in the order in which they are tried for a format; those that can compute nothing on a machine come last."""

BATCH_S = 0.5
"""What one batch of the prompt may take: an engine sees Stop and hang-up only between two batches."""

WIDE_FLOP_S, NARROW_FLOP_S = 44e9, 24e9
"""Prefill of 4-bit weights by llama.cpp on one core with AVX2, in batches from 64 tokens on and in smaller ones.

Measured with a 135M model: 39e9 to 48e9, and 23e9 to 25e9, the same from 8 tokens up to 48.
"""

WIDE, NARROW, LARGEST_BATCH = 64, 8, 512
"""The steps in which a batch is widened, and where there is nothing more to gain on a CPU."""

BATCHED = "gguf"
"""The format whose engine, llama.cpp, takes a whole batch before it sees Stop; others choose their own steps."""

BITS_PER_WEIGHT = 4.8
"""For the number of parameters where only the file's size is known: a usual 4-bit quantisation."""

AT_ONCE_ELSEWHERE = 64
"""How many answers at the same time are asked of one model of an endpoint: its server has a queue of its own."""

NOT_FOR_SYSTEM = "program.not_for_system"
"""Why an engine is missing that there is none of for such a system."""

_TASKS = {Kind.EMBEDDING: "embedding", Kind.RERANK: "rerank"}


@dataclass(frozen=True)
class Asked:
    """What the user asked of every load. It is not bent: the context may be longer than the model was trained for."""

    context: int | None = None
    threads: int | None = None
    slots: int | None = None
    key_type: str | None = None
    value_type: str | None = None
    gpu_layers: int | None = None
    cpu_experts: int | None = None
    engine: str | None = None
    in_process: bool | None = None


Look = Callable[[], Machine | None]
"""The machine, looked at when it is asked for."""


def not_seen() -> None:
    """Where the machine is not known: each engine counts as able to compute on it."""


HoldWhole = Callable[[Model, Load], bool]
"""Whether cards here hold a model whole under a load."""


def no_cards(model: Model, load: Load) -> bool:
    """Where no cards are known."""
    del model, load
    return False


NameParts = Callable[[Load, Model], Load]
"""A load with what the user has chosen for a model put into it."""


def alone(load: Load, model: Model) -> Load:
    """Where nothing is chosen for a model."""
    del model
    return load


@dataclass(frozen=True)
class Defaults:
    """What a load takes from the machine and the settings: usable cores, the context length in tokens.

    `accelerated` is true where the default engine always computes on a GPU, `on_cards` where cards hold all of a model:
    then a full batch takes no time worth saving, and its size is left to the engine. `name_parts` names in a load what
    the user has chosen to load beside the model, `in_preset` puts the model's default preset into it.
    `prompt_cache_mib` and `checkpoints` are the room for earlier prompts: see `prompt_room`.
    """

    cores: int
    context: int = 4096
    accelerated: bool = False
    asked: Asked = Asked()
    on_cards: HoldWhole = no_cards
    name_parts: NameParts = alone
    in_preset: NameParts = alone
    prompt_cache_mib: int | None = None
    checkpoints: Checkpoints = no_checkpoints


def engines_for(
    format_id: str, engines: Iterable[Engine], model: Model | None = None, machine: Machine | None = None
) -> list[Engine]:
    """The engines that run a format, installed or not, in the order in which they are tried. With `model`, of that
    format: without those that know that they cannot run this very one. With `machine`: those last that cannot compute
    on it.
    """
    able = sorted((engine for engine in engines if format_id in engine.formats), key=_rank)
    able = _able_first(able, machine)
    return able if model is None else [engine for engine in able if unsuited(model, engine) is None]


def unsuited(model: Model, engine: Engine) -> Cause | None:
    """Why `engine`, which runs the format, cannot run this very model; None where it can, or nobody can tell."""
    return None if engine.suits is suits_all else engine.suits(facts_of(model))


def facts_of(model: Model) -> FileFacts:
    """What an engine is told of a model's files. A type that is not known is left out."""
    info = model.info
    if info is None:
        return FileFacts(model.format)
    types = None if info.tensors is None else {name for each in info.tensors if (name := each.type_name)}
    return FileFacts(model.format, info.architecture, None if types is None else frozenset(types))


def engine_for(model: Model, engines: Iterable[Engine], load: Load | None = None, look: Look = not_seen) -> Engine:
    """The installed engine that runs `model`: the one that `load` names, where it does, else the first that can compute
    on the machine. It is looked at only where what is chosen depends on that.

    Raises EngineFailed where one exists but is not installed, or none can compute on the machine, Refused where none
    does, where each of them knows why it cannot run this very model (the reason of the first), or where none can as
    `load` asks.
    """
    able = engines_for(model.format, engines)
    if not able:
        raise Refused("engine.none_for_format", format=model.format, model=model.title)
    if load is not None:
        able = _as_asked(able, load, model.format)
    suited = _suited(able, model)
    here = [engine for engine in suited if engine.missing() is None]
    machine = look() if len(here) != 1 and any(engine.hardware for engine in here or suited) else None
    if here:
        return _able_first(here, machine)[0]
    suited = _able_first(suited, machine)
    best = next(filter(could_be_here, suited), suited[0])
    cause = unable(best, machine) or best.missing()
    assert cause is not None
    raise EngineFailed(cause.code, (), **{**cause.values, "engine": best.title, "install": command_for(best)})


def _able_first(engines: list[Engine], machine: Machine | None) -> list[Engine]:
    return sorted(engines, key=lambda engine: unable(engine, machine) is not None)


def could_be_here(engine: Engine) -> bool:
    """Whether `engine` is here, or could be installed on a system such as this one."""
    missing = engine.missing()
    return missing is None or missing.code != NOT_FOR_SYSTEM


def _suited(able: list[Engine], model: Model) -> list[Engine]:
    """Those of `able` that do not know why they cannot run this very model. Raises Refused where there is none."""
    causes = [unsuited(model, engine) for engine in able]
    suited = [engine for engine, cause in zip(able, causes, strict=True) if cause is None]
    if not suited and causes[0] is not None:
        raise Refused(causes[0].code, **{"engine": able[0].title, "model": model.title, **causes[0].values})
    return suited


def _as_asked(able: list[Engine], load: Load, format_id: str) -> list[Engine]:
    """Those of `able` that `load` lets choose from."""
    named = [engine for engine in able if load.engine in ("", engine.id)]
    if not named:
        raise Refused("engine.not_for_format", engine=load.engine, format=format_id)
    hosted = [engine for engine in named if engine.open_here is not None or not load.in_process]
    if not hosted:
        raise Refused("engine.not_in_process", engine=named[0].title)
    return hosted


def _rank(engine: Engine) -> int:
    return PREFERRED.index(engine.id) if engine.id in PREFERRED else len(PREFERRED)


def default_load(model: Model, defaults: Defaults) -> Load:
    """How `model` is loaded unless the user says otherwise: as its preset says, and what is asked of every load first.

    One core stays free, for more threads than free cores make ggml crawl. What an endpoint serves is loaded there as
    its owner wants: nothing of that is ours to say.
    """
    if model.remote is not None:
        named = defaults.asked.engine or ""
        return Load(model.remote.name, model.id, slots=AT_ONCE_ELSEWHERE, task=task_for(model), engine=named)
    trained = model.info.context_length if model.info else None
    load = Load(
        model=str(model.path),
        alias=model.id,
        context=min(defaults.context, trained) if trained else defaults.context,
        threads=max(1, defaults.cores - 1),
        task=task_for(model),
        prompt_cache_mib=defaults.prompt_cache_mib if model.format == BATCHED else None,
    )
    load = defaults.in_preset(defaults.name_parts(load, model), model)
    asked = {name: value for name, value in asdict(defaults.asked).items() if value is not None}
    load = replace(load, **asked)
    if load.checkpoints is None:
        load = replace(load, checkpoints=defaults.checkpoints(model, load))
    return load if load.batch is not None else replace(load, batch=batch_for(model, load, defaults))


def task_for(model: Model) -> str:
    """What `model` is loaded for unless the user says otherwise."""
    return _TASKS.get(model.kind, "chat")


def batch_for(model: Model, load: Load, defaults: Defaults) -> int | None:
    """The batch of the prompt for `load`: small enough for Stop where the processor computes, else the engine's own.

    What is read as a whole is none of these.
    """
    if load.task != "chat" or model.format != BATCHED or defaults.accelerated or defaults.on_cards(model, load):
        return None
    return prompt_batch(_parameters(model), load.threads or 1)


def prompt_batch(parameters: float, threads: int) -> int:
    """Tokens of the prompt computed at a time on a CPU: two operations per weight and token, BATCH_S seconds."""
    if not parameters:
        return LARGEST_BATCH
    wide = int(BATCH_S * WIDE_FLOP_S * threads / (2 * parameters)) // WIDE * WIDE
    narrow = int(BATCH_S * NARROW_FLOP_S * threads / (2 * parameters)) // NARROW * NARROW
    return min(LARGEST_BATCH, wide or max(NARROW, narrow))


def _parameters(model: Model) -> float:
    told: int | None = model.info.parameters if model.info else None
    return told or model.size_bytes * 8 / BITS_PER_WEIGHT
