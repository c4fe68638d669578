"""What `run` and `serve` share: the model that is meant, how it is to be loaded, and the owner of engines."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING

from weighbridge.base.errors import NotFound, Refused, WeighbridgeError
from weighbridge.base.explain import explain_code
from weighbridge.base.paths import default_paths, user_path
from weighbridge.base.words import text
from weighbridge.cli.setting_options import add_setting_options, with_told
from weighbridge.cli.surroundings import seen_machine

if TYPE_CHECKING:
    from weighbridge.base.database import Database
    from weighbridge.base.settings import SettingsStore
    from weighbridge.chat.meter import Reading
    from weighbridge.chat.speeds import AnswerSpeeds
    from weighbridge.choices.blueprints import Blueprints
    from weighbridge.library.index import Library
    from weighbridge.library.model import Model
    from weighbridge.running.choose import NameParts
    from weighbridge.running.endpoints.endpoints import Endpoints
    from weighbridge.running.lease import Lease
    from weighbridge.running.parts import Parts
    from weighbridge.running.presets import PresetLoads
    from weighbridge.running.recording import Recorders
    from weighbridge.running.state import Running
    from weighbridge.running.supervisor import Supervisor
    from weighbridge_engines.api import Engine

PATIENCE_S = 2
KV_TYPES = ("f16", "bf16", "f32", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl")


@dataclass(frozen=True)
class Owned:
    """The owner of engines; who has the speed of answers kept, and the endpoints: None where the database cannot be
    used.
    """

    supervisor: Supervisor
    speeds: AnswerSpeeds | None
    endpoints: Endpoints | None

    def attend(self, model: Model, reading: Callable[[], Reading | None]) -> AbstractContextManager[None]:
        """To be entered as a question is sent to `model`, and left as its answer ends."""
        return nullcontext() if self.speeds is None else self.speeds.attend(model, reading)


def add_load_options(parser: argparse.ArgumentParser) -> None:
    """How a model is loaded; all of it defaults to what suits the model and the machine."""
    group = parser.add_argument_group(text("how it is loaded"))
    group.add_argument("--preset", metavar=text("NAME"), help=text("load as this preset of the model says"))
    group.add_argument("--context", type=positive, metavar="N", help=text("context length in tokens"))
    group.add_argument("--threads", type=positive, metavar="N", help=text("threads; default: all cores but one"))
    group.add_argument("--slots", type=positive, metavar="N", help=text("answers at the same time; default: 1"))
    group.add_argument("--kv", choices=KV_TYPES, help=text("type of the KV cache; default: f16"))
    group.add_argument("--gpu-layers", type=whole, metavar="N", help=text("layers on cards; default: all that fit"))
    group.add_argument("--cpu-experts", type=whole, metavar="N", help=text("first layers whose experts stay in RAM"))
    add_setting_options(group)
    group.add_argument("--engine", metavar="ID", help=text("the engine that loads it, as engines ls shows it"))
    hosted = text("host the engine's library in this program, for engines that can be hosted so: llama_cpp")
    group.add_argument("--in-process", action="store_true", help=hosted)
    group.add_argument("--anyway", action="store_true", help=text("load also what will not fit"))


def library_for(name: str | None) -> Library:
    """The scanned library; where `name` is a file outside of it, that file's folder belongs to it too, and so does a
    folder that is a model as a whole.
    """
    from weighbridge.library.model import ADDED
    from weighbridge.library.places import Root

    library = scanned_library()
    path = user_path(name) if name else None
    if path is None or _listed(library, str(path)):
        return library
    if os.path.isfile(path):  # noqa: PTH113 - never raises
        library.use_roots([*library.roots, Root(path.absolute(), ADDED), Root(path.absolute().parent, ADDED)])
        library.scan()
    elif _is_model(path):
        library.use_roots([*library.roots, Root(path.absolute(), ADDED)])
        library.scan()
    return library


def _is_model(folder: os.PathLike[str]) -> bool:
    """Whether a folder is one model: no other is looked through for the sake of a name."""
    from weighbridge.formats.recognise import is_model_folder

    try:
        return is_model_folder(os.listdir(folder))  # noqa: PTH208 - names are all that is wanted
    except OSError:
        return False


def leased(supervisor: Supervisor, model: Model, shown: bool) -> Lease:
    """A lease on `model`; where it is to be `shown`, how far its load is stands on standard error meanwhile."""
    from weighbridge.cli.progress import ChangingLine

    waited = supervisor.lease(model)
    with ChangingLine(lambda: load_line(supervisor.running(), model.id), shown):
        return waited.result()


def load_line(running: Iterable[Running], model_id: str) -> str:
    """How far the load of a model is, in words; "" where it does not load."""
    from weighbridge.choices.load_words import load_in_words
    from weighbridge.running.state import State

    loading = (one for one in running if one.model_id == model_id and one.state is State.LOADING)
    return next((load_in_words(one, time.monotonic()) for one in loading), "")


def failure_of(supervisor: Supervisor, model_id: str) -> WeighbridgeError | None:
    """Why the model's engine ended, where it did.

    An answer that broke off is told some moments before that is known.
    """
    for _ in range(PATIENCE_S * 20):
        for running in supervisor.running():
            if running.model_id == model_id and running.error is not None:
                return running.error
        time.sleep(0.05)
    return None


def settings() -> SettingsStore:
    """The settings of this user."""
    from weighbridge.base.settings import SettingsStore

    return SettingsStore(default_paths().settings)


def scanned_library() -> Library:
    """The library of this user, scanned just now, which looks where the window's looks.

    What is wrong with the settings' file is told on standard error: some folders may be missing for it. Without a
    database, nothing is off the list.
    """
    with open_library() as library:
        library.scan()
        return library


@contextmanager
def open_library() -> Iterator[Library]:
    """As `scanned_library`, but not scanned yet; what is written on models can be changed until the block is left."""
    from weighbridge.cli.at_endpoints import endpoints_in
    from weighbridge.library.hashes import Hashes
    from weighbridge.library.index import Library
    from weighbridge.library.marks import Marks
    from weighbridge.library.places import library_roots
    from weighbridge.library.shelves.program import this_computer

    store = settings()
    for notice in store.notices:
        print(explain_code(notice.code, notice.values), file=sys.stderr)
    paths = default_paths()
    roots = library_roots(paths, store.value, this_computer())
    with open_database() as database:
        marks, hashes = (Marks(database), Hashes(database)) if database else (None, None)
        served = endpoints_in(database).models if database else None
        yield Library(roots, paths.headers, marks, hashes, elsewhere=served)


@contextmanager
def open_database() -> Iterator[Database | None]:
    """This user's database; None where it cannot be used, which is no reason not to list or to answer."""
    from weighbridge.base.database import Database

    try:
        database = Database(default_paths().database)
    except WeighbridgeError:
        yield None
        return
    with closing(database):
        yield database


@contextmanager
def owner_of_engines(
    arguments: argparse.Namespace, mark: str | None = None, model: Model | None = None
) -> Iterator[Owned]:
    """A supervisor, which ends every engine when the block is left. The load options hold for every load of it, but
    a preset for `model` alone: what of it cannot be used is told on standard error.

    `mark` is that of the data folder's lock, where we hold it: what its last owner left behind is ended first. Raises
    NotFound where `model` has no such preset, and Refused where load options are given for one of an endpoint.
    """
    from weighbridge.chat.speeds import AnswerSpeeds
    from weighbridge.choices.blueprints import Blueprints
    from weighbridge.cli.at_endpoints import endpoints_in
    from weighbridge.running.choose import Asked
    from weighbridge.running.defaults import machine_defaults
    from weighbridge.running.leftovers import end_leftovers, marked
    from weighbridge.running.prompt_room import checkpoints_of
    from weighbridge.running.scales import machine_scales
    from weighbridge.running.supervisor import Supervisor
    from weighbridge.running.whole import cards_of

    asked = Asked(
        context=arguments.context,
        threads=arguments.threads,
        slots=arguments.slots,
        key_type=arguments.kv,
        value_type=arguments.kv,
        gpu_layers=arguments.gpu_layers,
        cpu_experts=arguments.cpu_experts,
        engine=arguments.engine,
        in_process=arguments.in_process or None,
    )
    said = asked != Asked() or arguments.set or arguments.preset
    if model is not None and model.remote is not None and said:
        raise Refused("endpoint.load_options", model=model.id, endpoint=model.remote.endpoint)
    kept = settings().value
    end_leftovers(mark)
    environment = marked(os.environ, mark)
    engines, blueprints = arguments.engines(), Blueprints()
    on_cards = cards_of(cache(partial(seen_machine, engines)), engines, blueprints.of)
    defaults = replace(machine_defaults(kept.context, on_cards), asked=asked)
    with (
        _recorders(engines, blueprints) as (recorders, parts),
        open_presets(arguments, engines, model) as in_preset,
        open_database() as database,
    ):
        loaded, used = (recorders.loads.loaded, recorders.uses.used) if recorders else (None, None)
        scales = machine_scales(blueprints.of, engines, parts.beside)
        room = checkpoints_of(blueprints.of)
        defaults = replace(
            defaults,
            name_parts=parts.named_in,
            in_preset=with_told(in_preset, arguments.set, model, engines, arguments.engine),
            checkpoints=room,
        )
        endpoints = None if database is None else endpoints_in(database)
        supervisor = Supervisor(engines, defaults, scales, kept.idle_s, environment, loaded, used, endpoints)
        try:
            yield Owned(supervisor, AnswerSpeeds(supervisor, recorders.speeds) if recorders else None, endpoints)
        finally:
            supervisor.close()


@contextmanager
def open_presets(
    arguments: argparse.Namespace, engines: Mapping[str, Engine], model: Model | None
) -> Iterator[NameParts]:
    """What puts presets into loads: for `model` the one that `--preset` names, else the default one of each.

    What of the model's preset the engine would not take is told on standard error. Raises NotFound where it has none
    of that name, Refused where no model is meant that could have one.
    """
    from weighbridge.running.presets import PresetLoads, Presets

    name = arguments.preset
    if name is not None and model is None:
        raise Refused("options.needs", one="--preset", other="--model")
    with open_database() as database:
        wanted = {} if model is None or name is None else {model.id: name}
        loads = PresetLoads(None if database is None else Presets(database), engines, wanted)
        if model is not None:
            tell_left_out(loads, model)
        yield loads.in_load


def tell_left_out(loads: PresetLoads, model: Model) -> None:
    """Say on standard error what of the preset of `model` is not used, and why."""
    from weighbridge.choices.setting_words import refusal_in_words
    from weighbridge_engines.api import Load

    for cause in loads.taken(Load(str(model.path)), model).left_out:
        print(refusal_in_words(cause), file=sys.stderr)


@contextmanager
def _recorders(engines: Mapping[str, Engine], blueprints: Blueprints) -> Iterator[tuple[Recorders | None, Parts]]:
    """Who keeps what loads took and how fast answers were, and who knows what is to be loaded beside models. None, and
    nothing, where the database cannot be used, which is no reason not to answer.
    """
    from weighbridge.hardware.measured import Measurements
    from weighbridge.library.marks import Marks
    from weighbridge.running.devices import EngineDevices
    from weighbridge.running.parts import Parts
    from weighbridge.running.recording import machine_recorders

    data = default_paths().data
    with open_database() as database:
        if database is None:
            yield None, Parts()
            return
        devices, measured = EngineDevices(engines, data), Measurements.within(data)
        marks = Marks(database)
        recorders = machine_recorders(database, marks, blueprints.of, devices, measured)
        try:
            yield recorders, Parts(marks.of)
        finally:
            recorders.close()


def _listed(library: Library, name: str) -> bool:
    try:
        library.resolve(name)
    except NotFound:
        return False
    return True


def whole(value: str) -> int:
    """A whole number from 0 up, for argparse."""
    return 0 if value == "0" else positive(value)


def positive(value: str) -> int:
    """A whole number from 1 up, for argparse."""
    if not value.isdecimal() or int(value) < 1:
        raise argparse.ArgumentTypeError(text("{value} is not a whole number from 1 up", value=value))
    return int(value)
