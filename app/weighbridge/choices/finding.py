"""What happened to a load, and what can be done about it; and the same for one that cannot be met, before it is made.

Pure. Whatever is weighed goes through the functions that everything else goes through.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from weighbridge.base.errors import WeighbridgeError
from weighbridge.choices.choice import Choice, Surroundings, weigh
from weighbridge.choices.corrections import planned_load
from weighbridge.choices.fixes import Fix, FixKind, mended
from weighbridge.choices.speeds import Speedometer
from weighbridge.choices.ways import Way, WayKind, ways_out
from weighbridge.estimates.blueprint import Blueprint
from weighbridge.estimates.estimate import HOST
from weighbridge.estimates.fit import SHORTEST_CONTEXT, Verdict
from weighbridge.hardware.machine import Machine
from weighbridge.library.folders import repository_of
from weighbridge.library.model import ENDPOINT, Model
from weighbridge.running.ability import unable
from weighbridge.running.builds import Offer
from weighbridge.running.choose import engines_for
from weighbridge.running.engines import offers_among
from weighbridge.running.installing import TRIAL
from weighbridge.running.load_settings import load_for, refusal
from weighbridge.running.paces import SpeedTables
from weighbridge.running.speed_observations import SpeedObservation
from weighbridge.running.state import Running, State
from weighbridge_engines.api import HOST as SYSTEM_MEMORY
from weighbridge_engines.api import Load

DOES_NOT_FIT, DOES_NOT_FIT_CARD = "load.does_not_fit", "load.does_not_fit_card"
"""What is told where nothing has failed yet, and the estimate says that it will."""

OF_MEMORY = frozenset(
    {
        "engine.card_memory_refused",
        "engine.killed",
        "engine.memory_refused",
        "engine.out_of_memory",
        "program.batch_out_of_memory",
        "program.card_not_free",
        "program.context_too_long",
        "program.no_room_for_cache",
        "program.no_room_for_context",
    }
)
_OF_BUILD = frozenset(
    {
        "engine.assertion",
        "engine.bad_option",
        "engine.cache_type_unknown",
        "engine.card_failed",
        "engine.card_not_built_for",
        "engine.crashed",
        "engine.driver",
        "engine.file_too_new",
        "engine.illegal_instruction",
        "engine.instruction_missing",
        "engine.missing_driver",
        "engine.missing_library",
        "engine.no_backend",
        "engine.none_installed",
        "engine.not_installed",
        "engine.not_loadable",
        "engine.nothing_to_compute_with",
        "engine.old_system",
        "engine.other_layout",
        "engine.type_unknown",
        "engine.unknown_architecture",
        "engine.unknown_tokenizer",
        "exl.cpu_torch",
        "exl.no_compiler",
        "exl.no_ninja",
        "exl.no_package",
        "exl.no_toolkit",
        "exl.not_compiled",
        "exl.other_toolkit",
        "exl.other_torch",
        "onnx_genai.other_build",
        "program.no_module",
        "program.other_version",
    }
)
"""Another build of the engine may do it, or another engine."""

_OF_ENGINE = frozenset(
    {
        "engine.no_small_cache",
        "engine.no_tokenizer",
        "engine.other_system",
        "engine.own_code",
        "exl.card_too_old",
        "exl.no_card",
        "exl.no_driver",
        "exl.no_tokenizer",
        "exl.old_driver",
        "openvino.architecture",
        "openvino.no_card_runtime",
        "openvino.tensor_type",
        "openvino.tensor_types",
        "program.dtype_needs_card",
        "program.needs_card",
        "program.needs_newer_card",
        "program.not_for_system",
        "program.quantisation_needs_card",
        "program.quantisation_unknown",
        "program.sees_no_card",
        "program.slow",
        "program.to_get",
    }
)
"""No build of this engine does it; another engine may."""

_OF_FILE = frozenset(
    {
        "engine.bad_model_file",
        "engine.bad_settings",
        "engine.no_tokenizer",
        "engine.other_layout",
        "engine.wrong_part",
        "exl.no_tokenizer",
        "onnx_genai.no_tokenizer",
        "openvino.no_tokenizer",
    }
)
_OF_OTHER_FILE = frozenset({"engine.file_other_order", "engine.file_too_old", "engine.type_removed"})
_AGAIN = frozenset(
    {
        "engine.assertion",
        "engine.cannot_start",
        "engine.card_failed",
        "engine.crashed",
        "engine.ended",
        "engine.file_changed",
        "engine.missing_library",
        "engine.no_token",
        "engine.port_taken",
        "program.slow",
    }
)
"""The same load may well go another time, or once what stands in the way is gone."""

_LESS = 0.9
"""The share of what a failed load needed that is taken to be free: a load that takes hardly less would fail, too."""
_BELOW = 3
_REPOSITORY = re.compile(r"[\w][\w.-]*/[\w][\w.-]*")


@dataclass(frozen=True)
class Finding:
    """What happened (`code` and `values`, as in `base.explain`) to `load` of `model`, and what can be done about it.

    `asked` is the load as it was weighed; None where that is not known.
    """

    model: Model
    load: Load
    code: str
    values: Mapping[str, object]
    fixes: tuple[Fix, ...]
    asked: Choice | None = None


@dataclass(frozen=True)
class Ground:
    """What fixes are weighed on. `siblings` are the same model in fewer bytes, the largest first. `models` is our own
    folder, in which a model of the Hub lies below its owner and its repository.
    """

    around: Surroundings
    tables: SpeedTables
    past: Sequence[SpeedObservation] = ()
    siblings: tuple[tuple[Model, Blueprint | None], ...] = ()
    models: Path | None = None

    @property
    def siblings_by_id(self) -> Mapping[str, Blueprint | None]:
        """What is known of each."""
        return {model.id: blueprint for model, blueprint in self.siblings}


def of_failure(error: WeighbridgeError, choice: Choice, ground: Ground) -> Finding:
    """Of a load, weighed as `choice`, that ended with `error`."""
    model, load, code = choice.model, choice.load, error.code
    fixes = (
        *((Fix(FixKind.AGAIN, model.id, load),) if code in _AGAIN else ()),
        *(Fix(FixKind.LOAD, model.id, other) for other in mended(code, load, error.values)),
        *(_of_memory(choice, ground, error.values) if code in OF_MEMORY else ()),
        *(_of_shorter(choice) if code in OF_MEMORY and "context" not in error.values else ()),
        *(_of_engines(choice, ground) if code in _OF_BUILD | _OF_ENGINE else ()),
        *(_of_builds(choice, ground) if code in _OF_BUILD else ()),
        *(_of_siblings(choice, ground) if code in _OF_OTHER_FILE else ()),
        *((Fix(FixKind.SCAN, model.id),) if code == "engine.no_model_file" else ()),
        *((Fix(FixKind.VERIFY, model.id),) if code in _OF_FILE or code.startswith("file.") else ()),
        *(_from_hub(model, ground.models) if code in (*_OF_FILE, *_OF_OTHER_FILE) or code.startswith("file.") else ()),
    )
    return Finding(model, load, code, error.values, fixes, choice)


def will_not_fit(choice: Choice | None) -> bool:
    """Whether that is known of it."""
    return choice is not None and choice.fit is not None and choice.fit.verdict is Verdict.NO


def before_load(choice: Choice, ground: Ground) -> Finding | None:
    """What to choose between where the load, weighed as `choice`, will not fit; None where it may: an estimate that is
    not known forbids nothing.
    """
    fit = choice.fit
    if fit is None or not will_not_fit(choice) or fit.left_bytes is None or fit.place is None:
        return None
    code = DOES_NOT_FIT if fit.place.id == HOST else DOES_NOT_FIT_CARD
    values = {
        "model": choice.model.title,
        "needed_bytes": fit.estimate.share(fit.place.id).known_bytes,
        "free_bytes": fit.place.free_bytes,
        "missing_bytes": -fit.left_bytes,
        "device": fit.place.name,
    }
    fixes = (*_of_ending(choice, ground), *_of_ways(choice, ground))
    return Finding(choice.model, choice.load, code, values, fixes, choice)


def _of_memory(choice: Choice, ground: Ground, values: Mapping[str, object]) -> Iterator[Fix]:
    """It did not fit, so less is free than the estimate took for free: in that, what fits is looked for."""
    yield from _of_ending(choice, ground)
    if choice.fit is None or choice.runner is None:
        return
    less = _with_less(choice, ground.around, values)
    again = weigh(choice.model, choice.blueprint, choice.load, less, engine_id=choice.runner.engine_id)
    if again.fit is not None and again.fit.verdict is Verdict.PARTIAL:
        load = planned_load(again)
        again_so = replace(again, load=load)
        yield Fix(FixKind.LOAD, choice.model.id, load, Way(WayKind.LAYERS, again_so))
    yield from _of_ways(again, replace(ground, around=less))


def _of_shorter(choice: Choice) -> Iterator[Fix]:
    """Half the context, where nobody knows what a load takes."""
    context = choice.load.context or 0
    is_known = choice.fit is not None and choice.fit.verdict is not Verdict.UNKNOWN
    if not is_known and context >= 2 * SHORTEST_CONTEXT:
        yield Fix(FixKind.LOAD, choice.model.id, replace(choice.load, context=context // 2))


def _of_ending(choice: Choice, ground: Ground) -> Iterator[Fix]:
    """Ending a model that nobody uses, the largest first."""
    idle = [one for one in ground.around.running if _may_end(one) and one.model_id != choice.model.id]
    for one in sorted(idle, key=lambda one: -(one.private_bytes or 0)):
        freed_bytes = one.private_bytes
        yield Fix(FixKind.END, choice.model.id, choice.load, other_id=one.model_id, freed_bytes=freed_bytes)


def _may_end(one: Running) -> bool:
    """What an endpoint serves holds nothing here."""
    return one.state is State.READY and not one.in_flight and one.engine_id != ENDPOINT


def _of_ways(choice: Choice, ground: Ground) -> Iterator[Fix]:
    """One way out of each kind; and a build that would put it on a card that none uses."""
    blueprints, engine_id = ground.siblings_by_id, choice.runner.engine_id if choice.runner else None
    clock = Speedometer(ground.around, ground.tables, ground.past)

    def weighed(model: Model, load: Load) -> Choice:
        blueprint = choice.blueprint if model.id == choice.model.id else blueprints.get(model.id)
        found = weigh(model, blueprint, load, ground.around, engine_id=engine_id)
        return replace(found, speeds=clock.of(found))

    engine = ground.around.engines.get(engine_id or "")

    def takes(load: Load) -> bool:
        return engine is None or refusal(load, engine) is None

    for way in ways_out(choice, weighed, [model for model, _ in ground.siblings], takes):
        load, other = way.choice.load, way.choice.model
        if way.kind is WayKind.QUANT:
            yield Fix(FixKind.OTHER_MODEL, choice.model.id, load, way, other_id=other.id)
        else:
            yield Fix(FixKind.LOAD, choice.model.id, load, way)
    if choice.elsewhere is not None:
        yield from _of_builds(choice, ground)


def _of_engines(choice: Choice, ground: Ground) -> Iterator[Fix]:
    """Other engines that are here and run this very model, with what each can follow of the load."""
    failed = choice.runner.engine_id if choice.runner else choice.load.engine
    around = ground.around
    for engine in engines_for(choice.model.format, around.engines.values(), choice.model, around.machine):
        if engine.id not in (failed, TRIAL) and engine.missing() is None and unable(engine, around.machine) is None:
            load = load_for(engine, choice.load)
            if refusal(load, engine) is None:
                yield Fix(FixKind.OTHER_ENGINE, choice.model.id, load, title=engine.title)


def _of_builds(choice: Choice, ground: Ground) -> Iterator[Fix]:
    """Other builds of the same engine that suit this machine: those that are here, then those that can be installed."""
    engine_id, around = choice.runner.engine_id if choice.runner else "", ground.around
    known = (*offers_among(around.engines), *(offer for told in around.told for offer in told.offers))
    offers = {
        offer.build_id: offer for offer in known if offer.engine_id == engine_id and _suits(offer, around.machine)
    }
    for offer in sorted(offers.values(), key=lambda offer: (not offer.installed, not offer.verified)):
        kind = FixKind.USE_BUILD if offer.installed else FixKind.INSTALL_BUILD
        model, load = choice.model, choice.load
        yield Fix(kind, model.id, load, build_id=offer.build_id, title=offer.title, verified=offer.verified)


def _suits(offer: Offer, machine: Machine) -> bool:
    """A build for the processor suits all, one for cards whoever has one of their maker."""
    return not offer.vendors or any(device.vendor in offer.vendors for device in machine.devices)


def _of_siblings(choice: Choice, ground: Ground) -> Iterator[Fix]:
    for model, _ in ground.siblings[:1]:
        load = replace(choice.load, model=str(model.path), alias=model.id)
        yield Fix(FixKind.OTHER_MODEL, choice.model.id, load, other_id=model.id)


def _from_hub(model: Model, models: Path | None) -> Iterator[Fix]:
    """Where it came from, if it lies as what came from the Hub does."""
    repository = repository_of(model.path)
    if repository is None and models is not None and model.path.is_relative_to(models):
        below = model.path.relative_to(models).parts
        own = "/".join(below[:2])
        repository = own if len(below) == _BELOW and _REPOSITORY.fullmatch(own) else None
    if repository is not None:
        yield Fix(FixKind.FETCH, model.id, repository=repository)


def _with_less(choice: Choice, around: Surroundings, values: Mapping[str, object]) -> Surroundings:
    """The surroundings with what the failed load shows to be free at most, in each place that it used."""
    if choice.fit is None:
        return around
    most = {}
    for place in choice.places:
        needed_bytes = choice.fit.estimate.share(place.id).known_bytes
        if needed_bytes and place.free_bytes is not None and _refused(place.id, values):
            most[place.id] = max(0, min(place.free_bytes, int(needed_bytes * _LESS)))
    return replace(around, machine=_bounded(around.machine, most), running=())


def _refused(place_id: str, values: Mapping[str, object]) -> bool:
    """Whether memory ran out in this place: in system memory, or on a card, as far as the engine said which."""
    device = values.get("device")
    return device is None or (device == SYSTEM_MEMORY) == (place_id == HOST)


def _bounded(machine: Machine, most: Mapping[str, int]) -> Machine:
    memory = machine.memory
    if HOST in most:
        memory = replace(memory, available_bytes=most[HOST])
    devices = [
        replace(one, memory=replace(one.memory, available_bytes=most[one.id])) if one.id in most else one
        for one in machine.devices
    ]
    return replace(machine, memory=memory, devices=tuple(devices))
