"""`weighbridge engines`: which builds of engines are here, which could be, and which is used."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import TYPE_CHECKING

from weighbridge.base.explain import explain_code
from weighbridge.base.paths import default_paths, user_path
from weighbridge.base.printable import printable
from weighbridge.base.task import Task
from weighbridge.base.words import text
from weighbridge.cli.argparse_words import Commands
from weighbridge.cli.json_words import cause_as_json, word_with_json
from weighbridge.cli.progress import Progress

if TYPE_CHECKING:
    from weighbridge.library.model import Model
    from weighbridge.running.builds import Build, Recipe
    from weighbridge.running.engines import Engines
    from weighbridge.running.installation import Installer, Outcome


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command and what it does with builds; without a word more it lists them."""
    parser = subparsers.add_parser("engines", help=text("list, install, choose and remove builds of engines"))
    parser.add_argument("--json", action="store_true", help=text("print JSON"))
    parser.set_defaults(run=_ls)
    words = parser.add_subparsers(action=Commands, metavar=text("WHAT"))
    word_with_json(words, "ls", _ls, text("list them (also without a word)"))
    told_of = word_with_json(
        words, "show", _show, text("tell all of one engine: what it cannot do, what to know of it")
    )
    told_of.add_argument("engine", metavar=text("ENGINE"), help=text("its name: llama_server, mlx, vllm and so on"))
    newer = word_with_json(words, "newer", _newer, text("ask the package index for a newer version of a build"))
    newer.add_argument("build", metavar=text("BUILD"), help=text("its name, as ls shows it"))
    install = word_with_json(
        words, "install", _install, text("install a build into an environment of its own and use it")
    )
    install.add_argument("build", metavar=text("BUILD"), help=text("its name, as ls shows it, or that of an engine"))
    install.add_argument("--wheels", metavar=text("PATH"), help=text("a wheel, or a folder of wheels; no network then"))
    install.add_argument("--no-use", action="store_true", help=text("go on with the build that is in use"))
    for name, act, told in (
        ("remove", _remove, text("remove a build, or take a program off the list")),
        ("use", _use, text("use a build that is here from now on")),
    ):
        named = text("its name, as ls shows it, or the path of a program")
        word_with_json(words, name, act, told).add_argument("build", metavar=text("BUILD"), help=named)
    taken = word_with_json(words, "add", _add, text("take in a server program that you have, and use it"))
    taken.add_argument("path", metavar=text("PATH"), help=text("the program, or the folder that holds it"))
    of = text("which engine it is of, where its name does not tell: llama_server, vllm, tabbyapi and so on")
    taken.add_argument("--as", dest="engine_id", metavar=text("ENGINE"), help=of)
    taken.add_argument("--no-use", action="store_true", help=text("go on with the build that is in use"))


def _ls(arguments: argparse.Namespace) -> int:
    """What is here, what could be, and what would use the cards of this machine."""
    from weighbridge.cli import engines_shown

    engines = _engines(arguments)
    _installer(engines).clean()
    engines.refresh()
    shown = engines_shown.look(engines, default_paths().data)
    print(json.dumps(engines_shown.as_json(shown)) if arguments.json else engines_shown.as_text(shown))
    return 0


def _show(arguments: argparse.Namespace) -> int:
    from weighbridge.base.errors import NotFound
    from weighbridge.cli import engines_shown

    shown = engines_shown.look(_engines(arguments), default_paths().data)
    found = next((engine for engine in shown.engines if engine.id == arguments.engine), None)
    if found is None:
        raise NotFound("engine.unknown", engine=arguments.engine, known=", ".join(one.id for one in shown.engines))
    told = engines_shown.engine_as_json(found, shown)
    print(json.dumps(told) if arguments.json else engines_shown.engine_as_text(found, shown))
    return 0


def _newer(arguments: argparse.Namespace) -> int:
    engines, task = _engines(arguments), Task()
    build = engines.build(arguments.build)
    newer = _installer(engines).newer(build.id, task)
    if arguments.json:
        print(json.dumps({"build": build.id, "version": build.version, "newer": newer}))
    elif newer is None:
        print(text("The package index has no newer {build} than {version}.", build=build.id, version=build.version))
    else:
        told = {"newer": newer, "version": build.version, "build": build.id}
        print(text("{newer} can be had; here is {version}: weighbridge engines install {build}", **told))
    return 0


def _install(arguments: argparse.Namespace) -> int:
    from weighbridge.running.build_trial import trial_model

    engines = _engines(arguments)
    recipe = _recipe(arguments.build, engines)
    model = trial_model(_models(), engines.catalogue[recipe.engine_id])
    if not arguments.json:
        print(_about(recipe, model), file=sys.stderr)
    installer, task = _installer(engines), Task()
    with Progress(task, shown=sys.stderr.isatty() and not arguments.json):
        outcome = installer.install(
            recipe.id,
            task,
            model=model,
            wheels=user_path(arguments.wheels) if arguments.wheels else None,
            use=not arguments.no_use,
            on_line=_quiet if arguments.json or sys.stderr.isatty() else _told,
        )
    _tell_installed(outcome, arguments.json)
    return 0


def _recipe(name: str, engines: Engines) -> Recipe:
    """The build `name`; of an engine's name the first of its builds that suits this machine."""
    from weighbridge.choices.engine_words import why_not_here, why_unsuited
    from weighbridge.hardware.detect import detect

    own = [recipe for recipe in engines.recipes if recipe.engine_id == name]
    if not own:
        return engines.recipe(name)
    machine = detect()
    suited = (one for one in own if not (why_not_here(one, engines.system) or why_unsuited(one, machine)))
    return next(suited, own[0])


def _tell_installed(outcome: Outcome, as_json: bool) -> None:
    from weighbridge.choices.build_words import devices_in_words, tried_in_words
    from weighbridge.cli.engines_shown import build_as_json
    from weighbridge.running.installation import disk_bytes

    build = outcome.build
    if as_json:
        why_not = outcome.why_not and cause_as_json(outcome.why_not)
        print(json.dumps({"build": build_as_json(build, disk_bytes(build)), "why_not_used": why_not}))
        return
    print(text("{build} is installed. It can use: {devices}.", build=build.id, devices=devices_in_words(build.devices)))
    print(tried_in_words(build))
    if outcome.why_not is not None:
        print(str(explain_code(outcome.why_not.code, outcome.why_not.values)))
    elif build.in_use:
        print(_in_use(build))


def _remove(arguments: argparse.Namespace) -> int:
    engines = _engines(arguments)
    build = engines.build(arguments.build)
    _installer(engines).remove(build.id)
    now = next(one for one in engines.builds if one.engine_id == build.engine_id and one.in_use)
    if arguments.json:
        print(json.dumps({"removed": build.id, "in_use": now.id}))
    else:
        print(text("{build} is removed.", build=build.id))
        print(_in_use(now))
    return 0


def _use(arguments: argparse.Namespace) -> int:
    engines = _engines(arguments)
    build = engines.build(arguments.build)
    engines.use(build.id)
    return _tell_use(engines.build(build.id), arguments.json)


def _add(arguments: argparse.Namespace) -> int:
    from weighbridge.running.build_trial import trial_model
    from weighbridge.running.programs import engine_named

    engines, task, path = _engines(arguments), Task(), user_path(arguments.path)
    engine_id = arguments.engine_id or engine_named(path, engines.catalogue.values())
    known = engines.catalogue.get(engine_id)
    model = None if known is None else trial_model(_models(), known)
    with Progress(task, shown=sys.stderr.isatty() and not arguments.json):
        build = _installer(engines).add(path, task, model=model, use=not arguments.no_use, engine_id=engine_id)
    return _tell_use(build, arguments.json)


def _tell_use(build: Build, as_json: bool) -> int:
    from weighbridge.choices.build_words import devices_in_words
    from weighbridge.cli.engines_shown import build_as_json

    if as_json:
        print(json.dumps({"build": build_as_json(build, None)}))
        return 0
    if build.devices is not None:
        print(text("{build} can use: {devices}.", build=build.id, devices=devices_in_words(build.devices)))
    if build.in_use:
        print(_in_use(build))
    return 0


def _in_use(build: Build) -> str:
    return text("{engine} is loaded as {build} from now on.", engine=build.engine_title, build=build.id)


def _about(recipe: Recipe, model: Model | None) -> str:
    from weighbridge.base.units import size
    from weighbridge.choices.build_words import recipe_in_words
    from weighbridge.choices.engine_words import licences_in_words, needs_in_words, why_unsuited
    from weighbridge.hardware.detect import detect

    lines = [
        text(
            "Installing {title}: {wheels}, licence {licence}.",
            title=recipe_in_words(recipe),
            licence=licences_in_words(recipe.licence),
            wheels=" ".join(recipe.requirements),
        ),
        text("About {size} to fetch.", size=size(recipe.download_bytes)) if recipe.download_bytes else "",
        needs_in_words(recipe),
        why_unsuited(recipe, detect()),
        text("It will be tried with {model}.", model=model.id) if model else text("No model is here to try it with."),
    ]
    return "\n".join(filter(None, lines))


def _models() -> tuple[Model, ...]:
    from weighbridge.cli.loading import scanned_library

    return scanned_library().models


def _engines(arguments: argparse.Namespace) -> Engines:
    from weighbridge.running.engines import live

    return live(arguments.engines(), default_paths().data, default_paths().described_programs)


def _installer(engines: Engines) -> Installer:
    from weighbridge.cli.loading import settings
    from weighbridge.hub.access import offline
    from weighbridge.hub.network import NetworkLog
    from weighbridge.running.installation import Installer

    kept = settings().value
    return Installer(engines, NetworkLog(), lambda: offline(kept, os.environ))


def _told(line: str) -> None:
    print(printable(line), file=sys.stderr)


def _quiet(line: str) -> None:
    del line
