"""By hand: a described server program, tried for real, and the options of one against what its wheel knows.

    python -m tests.programs_for_real FOLDER --program PATH [--engine transformers] [--set NAME=VALUE ...]
    python -m tests.programs_for_real --options WHEEL --engine ID [--write]

With a FOLDER that holds a model: the program is taken in, loads the model under our supervisor, answers greedily (and,
where we hold it to that, as it is asked, and refuses a prompt that is too long), is
stopped in the middle of an answer (its use of the processor falls to nothing), hung up on, and ended; nothing of it is
left. Each step prints what it found and how long it took. PATH is the program, the Python of its environment, or its
folder. With a WHEEL: every option and field that the table names is looked up in the sources that are in it; with
`--write` the options found are kept for the tests.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
import tempfile
import time
import zipfile
from contextlib import closing, contextmanager
from pathlib import Path

import psutil

from weighbridge.base.errors import Cancelled, Refused
from weighbridge.base.task import Task
from weighbridge.chat.client import ChatClient, Sampling, chat_body
from weighbridge.chat.events import Delta, Usage
from weighbridge.library.recognise_path import recognise_path
from weighbridge.running.defaults import machine_defaults
from weighbridge.running.engines import Engines
from weighbridge.running.supervisor import Supervisor
from weighbridge_engines.catalogue import catalogue
from weighbridge_engines.controls import with_value
from weighbridge_engines.program import TABLE
from weighbridge_engines.program_table import read_table

KEPT = Path(__file__).parent / "data" / "program_options.json"
QUESTION = [{"role": "user", "content": "What is the capital of France?"}]
LONG = [{"role": "user", "content": "Write a long story about a lighthouse and the sea."}]
MIB = 1 << 20


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--program", type=Path)
    parser.add_argument("--engine", default="transformers")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--options", type=Path)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    if asked.options is not None:
        return check_options(asked.options, asked.engine, asked.write)
    model = recognise_path(asked.folder.absolute())
    print(f"{model.id}: {model.format} {model.quant}, {model.size_bytes / MIB:.0f} MiB")
    with tempfile.TemporaryDirectory(prefix="programs-") as place:
        engines = Engines(catalogue(), Path(place))
        with step(f"take in {asked.program}"):
            build = engines.add(asked.program, asked.engine)
            engines.use(build.id)
            print("   ", build.id, build.version, [device.id for device in build.devices or ()])
        try_model(engines, model, asked)
    return 0


def try_model(engines, model, asked):
    """The whole life of one load."""
    supervisor = Supervisor(engines, machine_defaults(2048))
    engine = engines[asked.engine]
    load = supervisor.default_load(model)
    for each in asked.set:
        name, _, words = each.partition("=")
        control = next(one for one in engine.controls if one.name == name)
        load = with_value(load, control, control.read(words))
    print("   ", *engine.said(load))
    with closing(supervisor), closing(ChatClient()) as client:
        with step("load"):
            running = supervisor.load(model, load).result()
        told = {one.name: (one.requested, one.effective) for one in running.settings}
        print(f"    memory {(running.memory_bytes or 0) / MIB:.0f} MiB, {told}")
        family = psutil.Process(running.pid).children(recursive=True)
        print("    processes:", [member.name() for member in family])
        with step("greedy answer"):
            print("   ", repr(answer(supervisor, client, model, load)))
        if asked.engine == "transformers":
            followed(supervisor, client, model, load)
        stop_in_the_middle(supervisor, client, model, load, family)
        with step("another answer after the stop"):
            print("   ", repr(answer(supervisor, client, model, load)))
        with step("end"):
            supervisor.stop(model.id).result()
        left = [member for member in family if member.is_running() and member.status() != psutil.STATUS_ZOMBIE]
        print("    left:", left, *(line for line in supervisor.log(model.id)[-3:]))


def answer(supervisor, client, model, load):
    """What it answers, greedily."""
    events = []
    with supervisor.lease(model, load).result() as lease:
        body = chat_body(model.id, QUESTION, Sampling(temperature=0, top_k=1, max_tokens=16))
        client.stream(lease, body, events.append, Task())
    print("   ", next((event for event in reversed(events) if isinstance(event, Usage)), "no usage"))
    return "".join(event.text for event in events if isinstance(event, Delta))


def followed(supervisor, client, model, load):
    """What a request asks for holds: the seed, the stop text; a long prompt is refused."""
    sampled = [written(supervisor, client, model, load, temperature=1.0, seed=seed) for seed in (1, 1, 2)]
    print("    sampled with one seed twice, and another:", sampled[0] == sampled[1], sampled[1] != sampled[2])
    print("    before a stop text:", repr(written(supervisor, client, model, load, temperature=0, stop=["capital"])))
    for count in (load.context, 1_000_000):
        with step(f"a prompt of {count} words"):
            try:
                written(supervisor, client, model, load, messages=[{"role": "user", "content": "word " * count}])
            except Refused as refusal:
                print("   ", refusal.code, dict(refusal.values))


def written(supervisor, client, model, load, **body):
    """The text of an answer to a request with `body`."""
    events = []
    with supervisor.lease(model, load).result() as lease:
        asked = {"model": model.id, "messages": QUESTION, "max_tokens": 16, **body}
        client.stream(lease, asked, events.append, Task())
    return "".join(event.text for event in events if isinstance(event, Delta))


def stop_in_the_middle(supervisor, client, model, load, family):
    """Cancelled after some pieces: the processor is used no more, within seconds."""
    task, pieces = Task(), []

    def heard(event):
        pieces.append(event)
        if len(pieces) == 8:
            task.cancel()

    started_s = time.monotonic()
    with supervisor.lease(model, load).result() as lease:
        body = chat_body(model.id, LONG, Sampling(temperature=0, max_tokens=800))
        try:
            client.stream(lease, body, heard, task)
        except Cancelled:
            print(f"stop after {len(pieces)} events, {time.monotonic() - started_s:.1f} s")
    busy = []
    for _ in range(6):
        before = used_s(family)
        time.sleep(0.5)
        busy.append(round((used_s(family) - before) / 0.5, 2))
    print("    cores in use, each half second after it:", busy)


def used_s(family):
    """Seconds of the processor that the processes have used."""
    return sum(sum(member.cpu_times()[:2]) for member in family if member.is_running())


def check_options(wheel, engine_id, write):
    """Which options and fields of an entry its wheel does not know."""
    entry = next(one for one in read_table(TABLE.read_text(encoding="utf-8"))[0] if one.id == engine_id)
    options, fields = known_in(wheel)
    named = options_of(entry)
    absent = sorted(named - options)
    strange = sorted((entry.fields or frozenset()) - fields) if fields else []
    print(f"{wheel.name}: {len(options)} options and {len(fields)} fields in its sources")
    print(f"{engine_id}: {len(named)} options; not known: {absent or 'none'}; fields not known: {strange or 'none'}")
    if write:
        kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
        kept[engine_id] = {"from": wheel.name, "options": sorted(named & options), "fields": sorted(fields)}
        KEPT.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    return 1 if absent or strange else 0


def options_of(entry):
    """Every option that the entry may say."""
    words = [*entry.argv, *(entry.key_by.split() if entry.key == "argument" else ())]
    for option in entry.options:
        words += [*option.option.split(), *option.off.split(), *option.also, *option.before]
    return {word for word in words if word.startswith("--")}


PARSERS = re.compile(r"(/cli/serve|/arg_utils|/args_tools|cli_args|/server_args|/cli/\w+|/cli/serving/\w+)\.py$")
RECORDS = re.compile(r"(cli_args|arg_groups/fields/\w+)\.py$")
BODIES = re.compile(r"protocol\.py$")


def known_in(wheel):
    """The options that the parsers of a wheel name, and the fields of its requests: none where those are elsewhere.

    An option is a literal "--name", the field of a record of settings, or an argument that is annotated as an option. A
    switch may be said with "--no-" where its parser makes both.
    """
    options, fields = set(), set()
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if PARSERS.search(name):
                source = archive.read(name)
                options |= {word.decode() for word in re.findall(rb"[\"'](--[a-z][a-z0-9-]*)", source)}
                options |= {f"--{one.replace('_', '-')}" for one in arguments(source)}
            if RECORDS.search(name):
                options |= {f"--{one.replace('_', '-')}" for one in records(archive.read(name), ".*")}
            if BODIES.search(name):
                fields |= set(records(archive.read(name), r".*Request\w*|.*Params|.*Mixin|.*Fields|.*ReqInput"))
    return options | {f"--no-{option[2:]}" for option in options}, fields


def arguments(source):
    """The arguments of functions that a parser is made of by their annotations."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            yield from (one.arg for one in node.args.args if one.annotation and "Option" in ast.dump(one.annotation))


def records(source, pattern):
    """The names of annotated fields of classes by that name, in a source."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and re.fullmatch(pattern, node.name):
            yield from (
                one.target.id
                for one in node.body
                if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
            )


@contextmanager
def step(name):
    """What it is, and how long it took."""
    started_s = time.monotonic()
    print(name)
    yield
    print(f"    {time.monotonic() - started_s:.2f} s")


if __name__ == "__main__":
    sys.exit(main())
