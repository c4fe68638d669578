"""By hand: models through llama.cpp in all its hostings, what was asked for and estimated beside what came of it.

    python -m tests.llama_for_real FOLDER [--program LLAMA_SERVER [--f16]] [--only WORD ...] [--tokens N]

Each GGUF model in FOLDER is loaded and asked one greedy question

- by the wheel, as a child;
- with `--program`, by that `llama-server`: half of the layers on the first device that it lists, then split 3 to 1 over
  two `ggml-rpc-server` processes of this machine (the program beside it), which stand for two cards;
- by llama-cpp-python, as a child and in this process, where it is installed.

`--f16` gives the program copies of the models in F16, made by llama-cpp-python in a folder that is removed: for a build
whose kernels for quantised types this processor has no instructions for. A software Vulkan device is one that the
environment names: VK_ICD_FILENAMES with GGML_VK_VISIBLE_DEVICES=0. It refuses tensors over 128 MiB: a model that has
one goes to a `ggml-rpc-server` instead.

Printed: the answer, tokens a second and time to the first, every setting as asked for and as it is with the reason, and
for each device what the engine's log says it holds beside the estimate. Exits with 1 where an answer is empty or the
two hostings of one library differ in it, a requested value is changed without a reason, weights or KV cache of a device
are off by more than the larger of 1 % and 2 MiB, or a process is left.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil

from weighbridge.base.errors import WeighbridgeError
from weighbridge.base.task import Task
from weighbridge.chat.client import ChatClient
from weighbridge.chat.events import Delta, Event, StreamFault
from weighbridge.estimates.blueprint import Blueprint, blueprint
from weighbridge.estimates.estimate import HOST, Place, PlaceKind, Share, Term
from weighbridge.estimates.llama import llama_seats
from weighbridge.estimates.memory import estimate
from weighbridge.estimates.placement import reordered_types, slot_count
from weighbridge.estimates.plan import Plan
from weighbridge.hardware.cpu import detect_cpu
from weighbridge.library.full_headers import read_in_full
from weighbridge.library.index import Library
from weighbridge.library.model import Model
from weighbridge.library.rows import in_full
from weighbridge.running.defaults import machine_defaults
from weighbridge.running.engines import Engines
from weighbridge.running.plans import plan_of
from weighbridge.running.state import Running, Setting
from weighbridge.running.supervisor import Supervisor
from weighbridge_engines.api import HOST as ENGINE_HOST
from weighbridge_engines.api import Device, Engine, Load
from weighbridge_engines.catalogue import catalogue

MIB = 1 << 20
SHARE, LEAST_BYTES = 0.01, 2 * MIB
LIMIT_S, PORT_LIMIT_S = 600.0, 30.0
LOOPBACK = "127.0.0.1"
CONTEXT, BATCH = 2000, 128
NO_SUCH_CARD = 8
"""Layers that are asked for where there is no card: the engine's refusal of them is to be seen."""
QUESTION = "What is the capital of France? Answer with one word."
TO_F16 = """
import os, sys, llama_cpp
parameters = llama_cpp.llama_model_quantize_default_params()
parameters.ftype, parameters.allow_requantize, parameters.nthread = llama_cpp.LLAMA_FTYPE_MOSTLY_F16, True, 1
sys.exit(llama_cpp.llama_model_quantize(*map(os.fsencode, sys.argv[1:]), parameters))
"""
SOFTWARE, SOFTWARE_LIMIT_BYTES = "llvmpipe", 128 * MIB
"""A device without a card, and the largest tensor that it takes."""
TERMS = {
    Term.WEIGHTS: "weights_bytes",
    Term.KV: "kv_bytes",
    Term.STATE: "state_bytes",
    Term.COMPUTE: "compute_bytes",
    Term.OUTPUT: "output_bytes",
}
HELD = (Term.WEIGHTS, Term.KV, Term.STATE)
"""Terms that have a limit; the others are shown."""


class Skipped(Exception):
    """Why a way is not tried."""


@dataclass(frozen=True)
class Row:
    """One term of one device: estimated (None: unknown), and as the engine's log told it."""

    device: str
    term: Term
    estimated_bytes: int | None
    told_bytes: int

    @property
    def near(self) -> bool:
        """Whether the two are no further apart than allowed; what has no limit always is."""
        if self.term not in HELD:
            return True
        known = self.estimated_bytes is not None
        return known and abs(self.estimated_bytes - self.told_bytes) <= max(SHARE * self.told_bytes, LEAST_BYTES)

    @property
    def words(self) -> str:
        """Both, and how far they are apart."""
        if self.estimated_bytes is None:
            return f"estimated unknown, told {self.told_bytes:,} bytes"
        off_bytes = self.estimated_bytes - self.told_bytes
        share = f"{off_bytes / self.told_bytes:+.2%}" if self.told_bytes else "-"
        held = "" if self.term in HELD else " (no limit)"
        return (
            f"estimated {self.estimated_bytes:>12,}, told {self.told_bytes:>12,} bytes, {off_bytes:+,} = {share}{held}"
        )


@dataclass(frozen=True)
class Way:
    """One hosting: which engines it sees, what it asks for, and the cards that it has, by the engine's names."""

    name: str
    load: Load
    engines: Mapping[str, Engine]
    cards: tuple[Place, ...] = ()
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))


@dataclass
class Told:
    """What one way gave."""

    way: Way
    model: Model
    answer: str = ""
    tps: float | None = None
    ttft_s: float | None = None
    load_s: float = 0.0
    end_s: float = 0.0
    settings: Sequence[Setting] = ()
    memory: Sequence[Row] = ()
    faults: list[str] = field(default_factory=list)


def main() -> int:
    """Try all ways with all models; 1 where something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="its GGUF models are tried")
    parser.add_argument("--program", type=Path, help="a llama-server with ggml-rpc-server beside it")
    parser.add_argument("--f16", action="store_true", help="the program gets copies of the models in F16")
    parser.add_argument("--only", action="append", default=[], metavar="WORD", help="ways with this in their name")
    parser.add_argument("--tokens", type=int, default=16, help="the longest answer (%(default)s)")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="llama-") as place:
        told = [each for model in models_in(asked.folder) for each in tried(model, asked, Path(place))]
    for each in told:
        print("\n".join(lines(each)))
    bad = sum(bool(each.faults) for each in told)
    print(f"\n{len(told)} tried, {bad} with faults")
    return 1 if bad or not told else 0


def models_in(folder: Path) -> list[Model]:
    """The GGUF models in `folder`, with their full headers."""
    library = Library([folder.absolute()])
    library.scan()
    return [in_full(model, read_in_full(model)) for model in library.models if model.format == "gguf"]


def tried(model: Model, asked: argparse.Namespace, place: Path) -> list[Told]:
    """All ways, one after the other; each ends before the next begins."""
    found: list[Told] = []
    for name, way_of in WAYS.items():
        if asked.only and not any(word in name for word in asked.only):
            continue
        with ExitStack() as stack:
            print(f"{model.title}: {name} ...", file=sys.stderr, flush=True)
            try:
                found.append(try_way(*way_of(model, asked, place, stack), asked.tokens))
            except Skipped as reason:
                print(f"  skipped: {reason}", file=sys.stderr)
    same = [each for each in found if each.way.load.engine == "llama_cpp"]
    if len({each.answer for each in same}) > 1:
        same[-1].faults.append("not the answer of the same library as a child")
    return found


# The ways. Each makes what is asked for, and the model that gets it.


def wheel(model, asked, place, stack):
    """Two slots with caches of their own, and of a smaller type."""
    load = replace(base_load(model, "llama_server"), slots=2, unified=False, key_type="q8_0", value_type="q8_0")
    return Way("wheel, child", replace(load, context=2 * CONTEXT, gpu_layers=NO_SUCH_CARD), catalogue()), model


def program_on_card(model, asked, place, stack):
    """Half of the layers on the program's first card."""
    engines = added(asked, place)
    given = for_program(model, asked, place)
    device = next((one for one in engines.devices if one.kind != "cpu"), None)
    if device is None:
        raise Skipped("the program lists no card; --help names a software one")
    if SOFTWARE in device.name and digest(given).weights.embedding_bytes > SOFTWARE_LIMIT_BYTES:
        return over_rpc(given, asked, engines, stack, gpu_layers=half(given))
    load = replace(base_load(given, "llama_server"), gpu_layers=half(given))
    total, free = device.memory_total_bytes, device.memory_free_bytes
    card = Place(device.id, device.name, PlaceKind.DEDICATED, total, free, api=device.id.rstrip("0123456789").lower())
    return Way(f"program, {load.gpu_layers} layers on {card.id}", load, engines.engines, (card,)), given


def program_on_two(model, asked, place, stack):
    """All layers, three quarters of them on the first of two cards."""
    return over_rpc(for_program(model, asked, place), asked, added(asked, place), stack, split=(3.0, 1.0))


def over_rpc(model, asked, engines, stack, **changes):
    """Cards that are processes of this machine: one, or as many as a split has shares."""
    server = asked.program.with_name("ggml-rpc-server")
    if not os.access(server, os.X_OK):
        raise Skipped(f"there is no {server}")
    environment = {**os.environ, "LD_LIBRARY_PATH": str(server.parent), "GGML_VK_VISIBLE_DEVICES": ""}
    addresses = [stack.enter_context(rpc_server(server, environment)) for _ in changes.get("split", "1")]
    cards = tuple(Place(f"RPC0[{address}]", "", PlaceKind.DEDICATED, api="rpc") for address in addresses)
    load = replace(base_load(model, "llama_server"), extra={"arguments": ("--rpc", ",".join(addresses))}, **changes)
    what = " ".join(f"{name}={value}" for name, value in changes.items())
    return Way(f"program, {what} over RPC", load, engines.engines, cards, environment), model


def llama_cpp(model, asked, place, stack):
    """llama-cpp-python as a child."""
    if catalogue()["llama_cpp"].missing() is not None:
        raise Skipped("llama-cpp-python is not installed")
    load = replace(
        base_load(model, "llama_cpp"), key_type="q8_0", value_type="q8_0", gpu_layers=NO_SUCH_CARD, mapped=False
    )
    return Way("llama_cpp, child", load, catalogue()), model


def llama_cpp_here(model, asked, place, stack):
    """The same in this process."""
    way, model = llama_cpp(model, asked, place, stack)
    return replace(way, name="llama_cpp, in-process", load=replace(way.load, in_process=True)), model


WAYS = {
    "wheel": wheel,
    "program card": program_on_card,
    "program split": program_on_two,
    "llama_cpp child": llama_cpp,
    "llama_cpp here": llama_cpp_here,
}


def base_load(model, engine):
    """What all ways ask for."""
    threads = max(1, machine_defaults(CONTEXT).cores - 1)
    return Load(
        str(model.path),
        alias=model.id,
        context=CONTEXT,
        threads=threads,
        batch_threads=threads,
        batch=BATCH,
        micro_batch=BATCH // 2,
        flash_attention=True,
        engine=engine,
    )


def half(model):
    """Half of what can go to cards, the output among it."""
    return slot_count(digest(model).weights) // 2


def digest(model: Model) -> Blueprint:
    """The model as estimates see it."""
    assert model.info is not None
    return blueprint(model.info, model.size_bytes)


@dataclass(frozen=True)
class Added:
    """The program as the build in use, and what it lists."""

    engines: Engines
    devices: Sequence[Device]


def added(asked, place):
    """The program, taken in as the product takes it in."""
    if asked.program is None:
        raise Skipped("no --program is given")
    engines = Engines(catalogue(), place / "engines")
    build = engines.add(asked.program.absolute())
    engines.use(build.id)
    return Added(engines, build.devices or ())


def for_program(model, asked, place):
    """The model, or a copy of it in F16, made by a process of its own: the library's log is not for ours."""
    if not asked.f16:
        return model
    if catalogue()["llama_cpp"].missing() is not None:
        raise Skipped("--f16 needs llama-cpp-python")
    folder = place / "f16" / model.path.stem
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / f"{model.path.stem}-F16.gguf"
    if not made.exists():
        command = [sys.executable, "-c", TO_F16, str(model.path), str(made)]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    (copy,) = models_in(folder)
    return copy


@contextmanager
def rpc_server(program, environment):
    """A card that is a process of this machine, by its address."""
    with socket.socket() as free:
        free.bind((LOOPBACK, 0))
        port = free.getsockname()[1]
    command = [str(program), "-d", "CPU", "-H", LOOPBACK, "-p", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment) as child:
        try:
            wait_for(port)
            yield f"{LOOPBACK}:{port}"
        finally:
            child.kill()


def wait_for(port):
    """Until something listens at `port`."""
    end_s = time.monotonic() + PORT_LIMIT_S
    while time.monotonic() < end_s:
        with socket.socket() as probe:
            if probe.connect_ex((LOOPBACK, port)) == 0:
                return
        time.sleep(0.05)
    raise Skipped(f"no RPC server listens at {port}")


# What a way gives.


def try_way(way: Way, model: Model, tokens: int) -> Told:
    """Load, ask, end; and look at what was told and what is left."""
    told = Told(way, model)
    before = processes()
    with closing(Supervisor(way.engines, machine_defaults(CONTEXT), environment=way.environment)) as supervisor:
        try:
            began_s = time.monotonic()
            running = supervisor.load(model, way.load).result(LIMIT_S)
            told.load_s = time.monotonic() - began_s
            ask(supervisor, model, way.load, tokens, told)
            look_at(next(one for one in supervisor.running() if one.model_id == running.model_id), told)
        except WeighbridgeError as error:
            told.faults.append(f"{error.code} {dict(error.values)}")
            print("\n".join(supervisor.log(model.id)[-12:]), file=sys.stderr)
        began_s = time.monotonic()
        supervisor.stop(model.id).result(LIMIT_S)
        told.end_s = time.monotonic() - began_s
    left = processes() - before
    told.faults += [f"process {pid} is left" for pid in left]
    return told


def processes() -> set[int]:
    """All below this one."""
    return {child.pid for child in psutil.Process().children(recursive=True)}


def ask(supervisor: Supervisor, model: Model, load: Load, tokens: int, told: Told) -> None:
    """One greedy answer, and its times at the reader."""
    pieces: list[tuple[float, str]] = []

    def take(event: Event) -> None:
        if isinstance(event, Delta) and event.text:
            pieces.append((time.monotonic(), event.text))
        if isinstance(event, StreamFault):
            told.faults.append(f"{event.code} {event.message}")

    body = {"messages": [{"role": "user", "content": QUESTION}], "max_tokens": tokens, "temperature": 0.0}
    with closing(ChatClient()) as client, supervisor.lease(model, load).result(LIMIT_S) as lease:
        began_s = time.monotonic()
        client.stream(lease, {**body, "model": model.id}, take, Task())
    told.answer = "".join(text for _, text in pieces)
    if pieces:
        told.ttft_s = pieces[0][0] - began_s
        took_s = pieces[-1][0] - pieces[0][0]
        told.tps = (len(pieces) - 1) / took_s if took_s else None
    if not told.answer.strip():
        told.faults.append("the answer is empty")


def look_at(running: Running, told: Told) -> None:
    """Settings, and memory beside the estimate."""
    told.settings = running.settings
    silent = [one for one in running.settings if one.differs and one.reason in (None, "setting.changed_by_engine")]
    told.faults += [f"{one.name} is changed without a reason" for one in silent]
    told.memory = list(compared(running, told))
    told.faults += [f"{row.device} {row.term} is not as estimated" for row in told.memory if not row.near]


def compared(running: Running, told: Told) -> Iterator[Row]:
    """Each term of each device that was told or estimated.

    A mapped file is told as a span of it, in which lies what the engine tells once more as copied into another order.
    """
    places = (Place(HOST, "", PlaceKind.HOST, reordered=reordered_here(told.way.cards)), *told.way.cards)
    plan = plan_of(told.way.load, running.engine_id)
    shares = {ENGINE_HOST if one.place == HOST else one.place: one for one in shares_of(told.model, plan, places)}
    twice_bytes = llama_seats(digest(told.model), plan, places)[0][1].reordered_bytes if plan.mapped else 0
    for device in sorted({*running.held, *shares}):
        for term, name in TERMS.items():
            told_bytes = running.held.get(device, {}).get(name, 0)
            if device == ENGINE_HOST and term is Term.WEIGHTS:
                told_bytes -= twice_bytes
            estimated_bytes = shares[device].terms.get(term, 0) if device in shares else 0
            if told_bytes or estimated_bytes != 0:
                yield Row(device, term, estimated_bytes, told_bytes)


def reordered_here(cards: Sequence[Place]) -> frozenset[str]:
    """As the product reckons for this processor."""
    return reordered_types(detect_cpu().extensions, [card.api for card in cards])


def shares_of(model: Model, plan: Plan, places: Sequence[Place]) -> Sequence[Share]:
    """What the product calculates for the load, place by place."""
    return estimate(digest(model), plan, places).shares


def lines(told: Told) -> Iterator[str]:
    """One way as text."""
    speed = "-" if told.tps is None else f"{told.tps:.1f} tok/s"
    first = "-" if told.ttft_s is None else f"TTFT {told.ttft_s * 1000:.0f} ms"
    yield ""
    head = f"{told.model.title} | {told.way.name} | {speed} | {first}"
    yield f"{head} | loaded in {told.load_s:.1f} s, ended in {told.end_s:.1f} s"
    yield f"    answer    {told.answer!r}"
    yield f"    as asked  {', '.join(f'{one.name} {one.effective}' for one in told.settings if as_asked(one))}"
    own = ", ".join(f"{one.name} {one.effective}" for one in told.settings if one.requested is None)
    yield f"    its own   {own or '-'}"
    for one in told.settings:
        if one.requested is not None and not as_asked(one):
            effective = "not told" if one.effective is None else one.effective
            yield f"    setting   {one.name}: asked {one.requested}, is {effective}  {one.reason or ''}".rstrip()
    for row in told.memory:
        yield f"    {row.device:22} {row.term:8} {row.words}"
    yield from (f"    FAULT     {fault}" for fault in told.faults)


def as_asked(one: Setting) -> bool:
    """Whether it was asked for, and is so."""
    return one.requested is not None and one.requested == one.effective


if __name__ == "__main__":
    sys.exit(main())
