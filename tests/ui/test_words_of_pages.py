"""What pages say, without a window: weights, examples, matches, folders, amounts, the machine."""

import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from tests.estimates.made_blueprints import card, made, ram
from tests.ui.fakes import GIB, machine

from weighbridge.base.task import Progress
from weighbridge.choices.choice import Choice
from weighbridge.choices.runner import Runner
from weighbridge.estimates.fit import fit
from weighbridge.estimates.plan import Plan
from weighbridge.estimates.shape import Certainty, Shape
from weighbridge.hardware.machine import Bandwidth, Basis, Cpu, Device, Memory, MemoryKind, Sensors
from weighbridge.library.model import Model
from weighbridge.ui import machine_words, weight
from weighbridge.ui.examples import example
from weighbridge.ui.folders import short
from weighbridge.ui.matching import Entry, matching
from weighbridge.ui.memory_parts import Part
from weighbridge.ui.widgets.progress_panel import Rate, amount_in_words
from weighbridge_engines.api import Cause, Load

THIN = "\u202f"


def weighed(blueprint, *places):
    model = Model("m", "m", Path("m.gguf"), (), "gguf", None, 0)
    return Choice(
        model, blueprint, Runner("llama_server", "llama.cpp"), fit(blueprint, Plan(), places), Load("m"), places
    )


def test_an_unknown_cache_is_never_left_out_of_the_figure():
    unknown = replace(made(), shape=Shape((), Certainty.UNKNOWN))
    choice = weighed(unknown, ram(40))
    assert weight.figure(choice) == f"12.1{THIN}GiB + unknown"
    assert "does not say enough" in weight.basis(choice)
    (memory,) = weight.memories(choice)
    assert [part.kind for part in memory.parts] == ["others", "weights", "engine"]


def test_a_range_says_so():
    choice = weighed(made(certainty=Certainty.UPPER_BOUND), ram(40))
    assert weight.figure(choice) == f"12.2{THIN}GiB to 12.3{THIN}GiB"
    assert "at most so much" in weight.basis(choice)


def test_the_basis_has_the_numbers():
    said = weight.basis(weighed(made(), ram(40)))
    assert said.startswith(f"Calculated: 12.3{THIN}GiB. At 4,096 tokens of context, KV cache in f16")


def test_each_place_has_its_own_bar_with_what_others_hold():
    choice = weighed(made(), ram(40), card(16))
    host, gpu = weight.memories(choice)
    assert (host.name, gpu.name) == ("RAM", "card")
    assert host.parts[0] == Part("others", 24 << 30)
    assert {part.kind: part.size_bytes for part in gpu.parts}["weights"] == 11 << 30
    assert weight.tightest(choice) == gpu
    assert gpu.limit_bytes == 15 << 30  # 1 GiB should stay free


def test_the_place_goes_on_after_the_badge():
    assert weight.where(weighed(made(), ram(40)).fit) == "in RAM"
    assert weight.where(weighed(made(), ram(40), card(16)).fit) == "on card"
    assert weight.where(None) == ""


def test_a_model_that_fits_in_part_says_what_is_left_and_where():
    choice = weighed(made(), ram(40), card(8))
    assert weight.badge_kind(choice.fit) == "partial"
    assert weight.where(choice.fit).endswith("iB left on card")


@pytest.mark.parametrize("model", ["Qwen3-8B-Q4_K_M", 'it\'s "odd" \\ $HOME'])
def test_the_curl_example_is_one_valid_request(model):
    words = shlex.split(example("curl", "http://127.0.0.1:2412", model))
    assert words[:3] == ["curl", "-N", "http://127.0.0.1:2412/v1/chat/completions"]
    assert json.loads(words[-1]) == {
        "model": model,
        "messages": [{"role": "user", "content": "Hello"}],
        "stream": True,
    }


@pytest.mark.parametrize("model", ["Qwen3-8B-Q4_K_M", 'it\'s "odd" \\'])
def test_the_python_example_compiles(model):
    source = example("Python", "http://127.0.0.1:2412", model)
    compile(source, "example", "exec")
    assert json.dumps(model) in source


def test_matching_needs_every_word_and_puts_beginnings_first():
    entries = [Entry("Go to Server", "", lambda: None), Entry("Observe", "", lambda: None)]
    assert [entry.title for entry in matching("ser", entries)] == ["Go to Server", "Observe"]
    assert [entry.title for entry in matching("SERVER go", entries)] == ["Go to Server"]
    assert matching("nothing", entries) == []
    assert matching("", entries) == entries


def test_a_folder_below_home_is_short():
    assert short(Path("/home/ann/models"), Path("/home/ann")) == str(Path("~/models"))
    assert short(Path("/srv/models"), Path("/home/ann")) == str(Path("/srv/models"))


def test_an_amount_tells_only_what_is_known():
    assert amount_in_words(Progress(0, None), None) == ""
    assert amount_in_words(Progress(1 << 20, None), None) == f"1.0{THIN}MiB"
    whole = amount_in_words(Progress(1 << 20, 3 << 20), 1 << 20)
    assert whole == f"1.0{THIN}MiB of 3.0{THIN}MiB · 1.0{THIN}MiB/s · 2 s left"


def test_a_rate_is_of_the_last_seconds():
    now = [0.0]
    rate = Rate(lambda: now[0])
    rate.add(0)
    assert rate.per_second is None
    for second, done in ((1, 100), (2, 200), (20, 1000), (21, 3000)):
        now[0] = second
        rate.add(done)
    assert rate.per_second == 2000


CARD = Device(
    "0", "nvidia", "RTX", Memory(MemoryKind.DEDICATED, 12 * GIB, None), bandwidth=Bandwidth(448, 504, "table")
)


def test_what_a_card_does_not_tell_is_unknown():
    facts = {fact.name: fact.value for fact in machine_words.device_facts(CARD)}
    assert facts["Memory"] == f"12.0{THIN}GiB, its own"
    assert facts["Free now"] == facts["Driver"] == facts["Compute capability"] == "unknown"
    assert facts["Bandwidth"] == f"448 – 504{THIN}GB/s"


def test_a_card_s_limits_are_told_with_their_basis():
    memory = Memory(MemoryKind.SHARED, 16 * GIB, 12 * GIB, 8 * GIB, Basis.ESTIMATE)
    own = Memory(MemoryKind.DEDICATED, GIB, None)
    card = replace(CARD, memory=memory, also=own, sensors=Sensors(power_limit_w=250, power_default_w=350))
    facts = {fact.name: (fact.value, fact.basis) for fact in machine_words.device_facts(card)}
    assert facts["Usable"] == (f"8.0{THIN}GiB", "estimated")
    assert facts["Besides, not added"] == (f"1.0{THIN}GiB, its own", "")
    assert facts["Power limit"] == (f"250{THIN}W", "(by default 350 W)")


def test_a_measured_bandwidth_says_when():
    fact = machine_words.bandwidth_fact(Bandwidth(61.4, 61.4, "", "2026-03-01"))
    assert (fact.value, fact.basis) == (f"61{THIN}GB/s", "Measured here on 2026-03-01")


def test_an_unknown_bandwidth_says_why():
    fact = machine_words.bandwidth_fact(None)
    assert fact.value == "unknown"
    assert fact.basis


def test_cores_say_what_this_program_may_use():
    facts = {fact.name: fact.value for fact in machine_words.system_facts(machine())}
    assert facts["Cores"] == "2 physical, 4 logical · 3 for this program"
    nothing = machine(cpu=Cpu(None, None, None, None))
    facts = {fact.name: fact.value for fact in machine_words.system_facts(nothing)}
    assert facts["Processor"] == facts["Cores"] == facts["Vector extensions"] == "unknown"


def test_findings_name_the_card():
    card = replace(CARD, problems=(Cause("nvidia.no_answer", {"what": "memory", "reason": "sick"}),))
    found = machine(devices=(card,), problems=(Cause("nvidia.driver_mismatch", {"reason": "x"}),))
    said = machine_words.findings(found)
    assert len(said) == 2
    assert said[1].said.startswith("RTX: ")


def test_the_report_has_it_all():
    said = machine_words.report(machine(devices=(CARD,)), ())
    assert "Test CPU" in said
    assert "RTX" in said
    assert "Free now: unknown" in said
