"""The settings of a load that follow from the answers, each with its why and the change that makes it so. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

from weighbridge.choices.advice.advice import Action, ActionKind, Point, Reason, Topic
from weighbridge.choices.advice.answers import LONG_CONTEXT, Link, Prompt, Purpose, Sharing
from weighbridge.choices.advice.at_hand import context_for, conversations
from weighbridge.choices.advice.candidate import Candidate
from weighbridge.choices.advice.case import Case
from weighbridge.choices.advice.hindrances import has_at_least
from weighbridge.choices.choice import Choice
from weighbridge.estimates.fit import Verdict, longest_context
from weighbridge.estimates.plan import ELEMENT_BYTES
from weighbridge_engines.api import Load

_FIELDS = frozenset(each.name for each in fields(Load))
_READS_BY_BATCHES = ("llama_server", "llama_cpp")
_KEEPS_PREFIXES = ("vllm", "sglang", "aphrodite", "tensorrt_llm", "dynamo")
"""Engines that keep what prompts have in common by themselves: in blocks, or in a tree."""

_DYNAMO = "python -m dynamo.frontend --http-port 8000 & python -m dynamo.vllm --model MODEL"
_RAY = (
    "vllm serve MODEL --tensor-parallel-size {cards} --pipeline-parallel-size MACHINES "
    "--distributed-executor-backend ray"
)


@dataclass(frozen=True)
class _Setting:
    """One case of settings: `choice` is the model that would be loaded, where one is known; where there is none that
    fits, `short` is the one that is the least short.
    """

    case: Case
    engine: Candidate
    choice: Choice | None
    short: Choice | None

    def change(self, **changes: Any) -> Action | None:
        """The change of the next load of the model, what is no field of a load in its `extra`; None where no model is
        known, or it is loaded so unless somebody says otherwise.
        """
        shelf = self.case.ground.shelf
        if self.choice is None or shelf is None or not self.engine.here:
            return None
        model, load = self.choice.model, self.choice.load
        usual = shelf.start(model)
        changes = {name: value for name, value in changes.items() if getattr(usual, name, None) != value}
        if not changes:
            return None
        own = {name: value for name, value in changes.items() if name not in _FIELDS}
        load = replace(load, **{name: changes[name] for name in changes if name in _FIELDS})
        load = replace(load, extra={**load.extra, **own}) if own else load
        return Action(ActionKind.CHANGE, model.title, self.engine.id, model_id=model.id, load=load, changes=changes)


def settings_for(
    case: Case, engine: Candidate, choice: Choice | None, short: Choice | None = None
) -> tuple[Point, ...]:
    """All settings that the answers decide, the one that memory depends on most first."""
    one = _Setting(case, engine, choice, short)
    makers = (_context, _cache, _slots, _layers, _split, _prefix, _batch, _reserved)
    return tuple(point for make in makers for point in make(one))


def _context(one: _Setting) -> Iterator[Point]:
    answers = one.case.answers
    values = {"context": answers.context, "users": answers.users, "total": answers.context * answers.users}
    why = Reason("context_counts") if one.choice is None else _taken(one, one.choice)
    against = _against_context(one, one.choice or one.short)
    yield Point(Topic.CONTEXT, Reason("set_context", values), (why,), tuple(against), _set_context(one))


def _set_context(one: _Setting) -> Action | None:
    """Of the model that is here, else of the program, where that has another one."""
    context, ground = one.case.answers.context, one.case.ground
    action = one.change(**context_for(one.case, one.engine))
    if action is not None or ground.elsewhere or context == ground.context:
        return action
    return Action(ActionKind.CHANGE, changes={"context": context})


def _taken(one: _Setting, choice: Choice) -> Reason:
    total, kv_bytes = conversations(one.case, one.engine, choice)
    return Reason("context_takes", {"total": total, "kv_bytes": kv_bytes, "model_bytes": choice.model.size_bytes})


def _against_context(one: _Setting, choice: Choice | None) -> Iterator[Reason]:
    if choice is None or choice.fit is None or choice.blueprint is None:
        return
    if choice is one.short:
        short_bytes = -(choice.fit.left_bytes or 0)
        yield Reason("none_fits", {"model": choice.model.title, "short_bytes": short_bytes})
    if choice.fit.verdict is Verdict.PARTIAL or (choice.fit.verdict is Verdict.NO and choice.load.slots == 1):
        longest = longest_context(choice.blueprint, choice.fit.plan, choice.places)
        yield Reason("context_longest", {"longest": longest})
    trained = choice.blueprint.context_length
    if trained is not None and trained < one.case.answers.context:
        yield Reason("context_trained", {"trained": trained})


def _cache(one: _Setting) -> Iterator[Point]:
    small, answers = one.engine.known.small_cache, one.case.answers
    used = one.choice.load.key_type if one.choice is not None else None
    may_fill = one.choice is None and answers.context * answers.users >= LONG_CONTEXT
    if not small or not (may_fill or used == small) or not _computes_in(one.case, small):
        return
    why = (
        [Reason("cache_long", {"total": answers.context * answers.users})] if used != small else [Reason("cache_fits")]
    )
    if small in ELEMENT_BYTES:
        why.append(Reason("cache_smaller", {"type": small, "share": ELEMENT_BYTES[small] / ELEMENT_BYTES["f16"]}))
    action = one.change(key_type=small, value_type=small) if one.engine.offers("key_type", small) else None
    yield Point(Topic.CACHE, Reason("set_cache", {"type": small}), tuple(why), (), action)


def _computes_in(case: Case, kind: str) -> bool:
    """Whether the cards compute in a type of cache; FP8 is for those that multiply in it themselves."""
    if not kind.startswith("fp8") or case.fast.vendor != "nvidia":
        return True
    return has_at_least(case.fast.capability, case.known.kernels["fp8"]) is True


def _slots(one: _Setting) -> Iterator[Point]:
    users = one.case.answers.users
    if users <= 1:
        return
    values = {"users": users, "engine": one.engine.title}
    if one.engine.known.serves:
        yield Point(Topic.SLOTS, Reason("slots_by_itself", values), (Reason("batches", values),))
    elif one.engine.parallel:
        yield Point(
            Topic.SLOTS, Reason("set_slots", values), (Reason("slots_share", values),), (), one.change(slots=users)
        )


def _layers(one: _Setting) -> Iterator[Point]:
    fast, choice = one.case.fast, one.choice
    if fast.vendor == "cpu" or fast.unified or not one.engine.on_cards or one.engine.known.serves:
        return
    fit = choice.fit if choice is not None else None
    if fit is None or fit.verdict is not Verdict.PARTIAL:
        yield Point(Topic.LAYERS, Reason("layers_all", {"device": fast.name}), (Reason("layers_why", _memories(one)),))
        return
    values = {"layers": fit.gpu_layers, "all": fit.all_layers, "experts": fit.plan.cpu_experts}
    changes = {"gpu_layers": fit.gpu_layers, "cpu_experts": fit.plan.cpu_experts or None}
    what = Reason("layers_experts" if fit.plan.cpu_experts else "layers_some", values)
    yield Point(Topic.LAYERS, what, (Reason("layers_why", _memories(one)),), (), one.change(**changes))


def _memories(one: _Setting) -> dict[str, float | None]:
    """How fast the two memories are that layers can lie in, in GB/s."""
    system = one.case.ground.around.machine.bandwidth
    return {"fast_gbs": one.case.fast.gbs, "system_gbs": None if system is None else system.low_gbs}


def _split(one: _Setting) -> Iterator[Point]:
    if one.case.answers.purpose is Purpose.FLEET:
        yield from _fleet(one.case.cards)
    elif one.case.fast.count > 1:
        yield _over_cards(one)


def _fleet(cards: int | None) -> Iterator[Point]:
    command = Action(ActionKind.RUN, "vLLM", "vllm", command=_RAY.format(cards=cards or "CARDS"))
    what = Reason("split_fleet_one" if cards == 1 else "split_fleet", {"cards": cards})
    yield Point(Topic.SPLIT, what, (Reason("split_fleet_why"),), (), command)
    start = Action(ActionKind.RUN, "NVIDIA Dynamo", "dynamo", command=_DYNAMO)
    yield Point(Topic.FLEET, Reason("fleet_start"), (Reason("fleet_attach"),), (), start)


def _over_cards(one: _Setting) -> Point:
    cards, link = one.case.fast.count, one.case.answers.link
    values = {"cards": one.case.cards}
    if link is Link.NVLINK:
        what, why = Reason("split_tensor", values), Reason("split_tensor_why")
        settings = {"tensor_parallel": cards, "split_mode": "tensor", "split_by_tensor": True}
    else:
        what, why = Reason("split_layers", values), Reason("split_layers_why")
        settings = {"pipeline_parallel": cards, "split_mode": "layer", "split_by_tensor": False}
    change = next(({name: value} for name, value in settings.items() if one.engine.offers(name)), None)
    look = Action(ActionKind.RUN, command="nvidia-smi topo -m") if _is_to_look(one) else None
    unknown = Reason("link_unknown" if one.case.fast.vendor == "nvidia" else "link_not_known")
    against = (unknown,) if link is Link.UNKNOWN else ()
    return Point(Topic.SPLIT, what, (why,), against, look or (one.change(**change) if change else None))


def _is_to_look(one: _Setting) -> bool:
    return one.case.answers.link is Link.UNKNOWN and one.case.fast.vendor == "nvidia"


def _prefix(one: _Setting) -> Iterator[Point]:
    sharing = one.case.answers.sharing
    if sharing is Sharing.NONE:
        return
    named = {"engine": one.engine.title}
    why = (Reason("prefix_agents" if sharing is Sharing.AGENTS else "prefix_start"),)
    if one.engine.id in _KEEPS_PREFIXES:
        yield Point(Topic.PREFIX, Reason("prefix_by_itself", named), why)
    elif one.engine.id == "llama_server":
        room = one.choice.load.prompt_cache_mib if one.choice is not None else None
        yield Point(Topic.PREFIX, Reason("prefix_room", {**named, "mib": room}), why)
    else:
        yield Point(Topic.PREFIX, Reason("prefix_one", named), why)


def _batch(one: _Setting) -> Iterator[Point]:
    if one.engine.id not in _READS_BY_BATCHES:
        return
    batch = one.choice.load.batch if one.choice is not None else None
    if one.case.fast.vendor == "cpu" and batch is not None:
        yield Point(Topic.BATCH, Reason("batch_small", {"batch": batch}), (Reason("batch_stop"),))
    elif one.case.answers.prompt is Prompt.LONG:
        yield Point(Topic.BATCH, Reason("batch_own", {"engine": one.engine.title}), (Reason("batch_cards"),))


def _reserved(one: _Setting) -> Iterator[Point]:
    share, fast = one.engine.known.reserves, one.case.fast
    if share is None or fast.vendor == "cpu":
        return
    each = None if fast.total_bytes is None else fast.total_bytes // fast.count
    values = {"engine": one.engine.title, "share": share, "bytes": None if each is None else int(each * share)}
    yield Point(Topic.RESERVED, Reason("reserved_set", values), (Reason("reserved_why", values),))
