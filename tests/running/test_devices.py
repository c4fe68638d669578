import json
import os
from dataclasses import replace

import pytest

from weighbridge.hardware.child import Answer
from weighbridge.hardware.machine import Cpu, Device, Machine, Memory, MemoryKind, Sight
from weighbridge.hardware.measured import Measurements
from weighbridge.running.builds import Offer
from weighbridge.running.devices import EngineDevices, Told, by_engine, missing_build, read_devices, read_problem
from weighbridge.running.questions import LIMIT_S
from weighbridge_engines import api
from weighbridge_engines.catalogue import catalogue

GIB = 1 << 30
CARD = Device("cuda0", "nvidia", "NVIDIA GeForce RTX 3090", Memory(MemoryKind.DEDICATED, 24 * GIB, None), driver="580")
MACHINE = Machine(
    "Linux", Cpu(None, None, None, None, ("SSE4.2", "AVX")), Memory(MemoryKind.SHARED, None, None), (CARD,)
)
SEEN = api.Device("CUDA0", "NVIDIA GeForce RTX 3090", "gpu", 24 * GIB, 20 * GIB, "0000:01:00.0")
PROCESSOR = api.Device("CPU", "A Processor", "cpu")


def engine(**changes):
    made = api.Engine(
        id="made",
        title="Made",
        formats=frozenset({"gguf"}),
        capabilities=frozenset(),
        install="none",
        missing=lambda: None,
        devices=lambda: [],
        version=lambda: "1",
    )
    return replace(made, **changes)


class Asked:
    """Answers in place of the child, and counts."""

    def __init__(self, *devices, answer=None):
        said = json.dumps({"devices": [device.__dict__ for device in devices]})
        self.answer = answer or Answer(f"WARNING: a library\n{said}\n", "", 0)
        self.argv = []

    def __call__(self, argv, limit_s, environment):
        self.argv.append(argv)
        assert limit_s == LIMIT_S
        if isinstance(self.answer, OSError):
            raise self.answer
        return self.answer


def told(tmp_path, ask, one=None, machine=MACHINE):
    return EngineDevices({"made": one or engine()}, tmp_path, ask).told(machine)


def test_an_engine_tells_its_devices(tmp_path):
    ask = Asked(SEEN, PROCESSOR)
    (one,) = told(tmp_path, ask)
    assert (one.engine_id, one.version, one.devices, one.problem) == ("made", "1", (SEEN, PROCESSOR), None)
    assert one.uses_processor
    assert ask.argv[0][-2:] == ["made", "--devices"]


def test_an_answer_is_remembered_without_what_was_free(tmp_path):
    told(tmp_path, Asked(SEEN))
    again = Asked(PROCESSOR)
    (one,) = told(tmp_path, again)
    assert again.argv == []
    assert one.devices == (replace(SEEN, memory_free_bytes=None),)


@pytest.mark.parametrize("driver", ["581", None])
def test_another_driver_is_asked_again(tmp_path, driver):
    told(tmp_path, Asked(SEEN))
    again = Asked(PROCESSOR)
    told(tmp_path, again, machine=replace(MACHINE, devices=(replace(CARD, driver=driver),)))
    assert len(again.argv) == 1


def test_another_version_and_no_version_are_asked_again(tmp_path):
    told(tmp_path, Asked(SEEN))
    for version in ("2", None, None):
        again = Asked(PROCESSOR)
        told(tmp_path, again, engine(version=lambda version=version: version))
        assert len(again.argv) == 1


@pytest.mark.parametrize(
    "text", ["", "[]", "{", "[" * 100_000, '{"made": 5}', '{"made": {"version": "1", "machine": "", "devices": 7}}']
)
def test_a_damaged_memory_is_no_memory(tmp_path, text):
    (tmp_path / "devices.json").write_text(text)
    assert told(tmp_path, Asked(SEEN))[0].devices == (SEEN,)


@pytest.mark.skipif(os.name != "posix", reason="pipes with names are of POSIX")
def test_a_pipe_in_its_place_is_no_memory(tmp_path):
    os.mkfifo(tmp_path / "devices.json")
    assert told(tmp_path, Asked(SEEN))[0].devices == (SEEN,)
    os.mkfifo(tmp_path / "bandwidth.json")
    assert Measurements.within(tmp_path).apply(MACHINE) == MACHINE


def test_a_data_folder_that_cannot_be_written_costs_only_the_memory(tmp_path):
    place = tmp_path / "file"
    place.write_text("")
    assert told(place, Asked(SEEN))[0].devices == (SEEN,)


def test_engines_that_are_missing_or_cannot_tell_are_not_asked(tmp_path):
    ask = Asked(SEEN)
    assert told(tmp_path, ask, engine(missing=lambda: api.Cause("engine.not_installed"))) == ()
    assert told(tmp_path, ask, engine(devices=api.no_devices)) == ()
    assert ask.argv == []


@pytest.mark.parametrize(
    ("answer", "code", "values"),
    [
        (Answer("", "", None), "engine.devices_slow", {"limit_s": 20}),
        (
            Answer("", "x\nlibcuda.so.1: cannot open\n", 1),
            "engine.devices_failed",
            {"reason": "libcuda.so.1: cannot open"},
        ),
        (Answer("", "", -11), "engine.devices_failed", {"reason": "-11"}),
        (Answer("", "", -4), "engine.illegal_instruction", {"signal": "SIGILL", "extensions": "SSE4.2 AVX"}),
        (Answer("", "", 0xC000001D), "engine.illegal_instruction", {"signal": "SIGILL", "extensions": "SSE4.2 AVX"}),
        (Answer("nothing", "", 0), "engine.devices_failed", {"reason": "0"}),
        (OSError(2, "No such file"), "engine.devices_failed", {"reason": "No such file"}),
    ],
)
def test_an_engine_that_cannot_tell_is_a_cause(tmp_path, answer, code, values):
    (one,) = told(tmp_path, Asked(answer=answer))
    assert one.devices is None
    assert (one.problem.code, one.problem.values) == (code, {"engine": "Made", **values})
    assert by_engine([one]) == {}
    assert told(tmp_path, Asked(SEEN))[0].devices == (SEEN,)


def test_what_is_missing_to_use_a_card():
    processor_only = Told("made", "Made", "1", (PROCESSOR,))
    cause = missing_build(CARD, [processor_only])
    assert (cause.code, cause.values["build"]) == ("engine.no_build", "CUDA")
    assert missing_build(replace(CARD, seen_by=(Sight("made", "CUDA0"),)), [processor_only]) is None
    assert missing_build(CARD, [Told("made", "Made", "1", None)]) is None
    assert missing_build(replace(CARD, vendor="other"), [processor_only]) is None


@pytest.mark.parametrize("text", ["", "5", '{"devices": [{"id": 1}]}', '{"devices": 5}'])
def test_what_is_no_answer(text):
    assert read_devices(text) is None


def test_the_real_worker_tells_the_devices_of_an_installed_engine(tmp_path):
    told = EngineDevices({"llama_server": catalogue()["llama_server"]}, tmp_path).told(MACHINE)
    assert [one.uses_processor for one in told] == [True]


def test_the_build_that_is_here_is_offered_first_and_then_that_of_the_engine_that_is_tried_first():
    def tells(engine_id, *, installed=False):
        offer = Offer(f"{engine_id}-cuda", "CUDA", engine_id, engine_id, ("nvidia",), installed)
        return Told(engine_id, engine_id, "1", (PROCESSOR,), offers=(offer,))

    others = [tells("another"), tells("llama_cpp"), tells("llama_server")]
    assert missing_build(CARD, others).values["build_id"] == "llama_server-cuda"
    assert missing_build(CARD, [*others, tells("late", installed=True)]).values["build_id"] == "late-cuda"


def test_what_a_build_tells_anew_is_remembered(tmp_path):
    one, seen = engine(), replace(SEEN, memory_free_bytes=None)  # free memory is never remembered
    devices = EngineDevices({}, tmp_path, Asked(seen))
    assert devices.told_anew(one, MACHINE).devices == (seen,)
    assert EngineDevices({}, tmp_path, Asked(PROCESSOR)).told_by(one, MACHINE).devices == (seen,)
    assert EngineDevices({}, tmp_path, Asked(PROCESSOR)).told_anew(one, MACHINE).devices == (PROCESSOR,)
    assert EngineDevices({}, tmp_path, Asked(seen)).told_by(one, MACHINE).devices == (PROCESSOR,)


def test_an_engine_that_knows_why_it_can_use_nothing_is_taken_at_its_word(tmp_path):
    said = json.dumps({"problem": {"code": "exl.cpu_torch", "values": {"torch": "2.13.0+cpu"}}})
    (one,) = told(tmp_path, Asked(answer=Answer(f"a library\n{said}\n", "", 0)))
    assert one.devices is None
    assert one.problem == api.Cause("exl.cpu_torch", {"engine": "Made", "torch": "2.13.0+cpu"})
    again = Asked(SEEN)
    assert told(tmp_path, again)[0].devices == (SEEN,)


@pytest.mark.parametrize("said", ['{"problem": null}', '{"problem": {"code": "x"}}', "[]", "no JSON"])
def test_what_is_no_problem_is_none(said):
    assert read_problem(said) is None
