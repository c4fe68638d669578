"""How engines and builds look, and what is hinted at, without a window."""

from dataclasses import replace

import pytest
from tests.ui.engines.made_engines import ABSENT, CPU, CUDA, GIB, GPU, MADE, PLAIN, RTX, SYSTEM
from tests.ui.fakes import machine

from weighbridge.choices.engine_order import Standing
from weighbridge.choices.engine_words import cannot_in_words, licence_in_words, why_not_here, why_unsuited
from weighbridge.hardware.machine import Device, Memory, MemoryKind
from weighbridge.running.builds import Build, BuildKind, System, offers
from weighbridge.running.devices import Told
from weighbridge.ui.engines.hints import hints
from weighbridge.ui.engines.looks import Act, BuildState, Known, looks
from weighbridge_engines.api import Capability, Cause, Hardware
from weighbridge_engines.echo import ENGINE as ECHO

THIN = "\u202f"
OURS = Build("made", "made", "Made", "", BuildKind.OURS, "", "1.0", in_use=True, formats=("gguf",))
APART = replace(
    OURS,
    id="made-cuda",
    title="CUDA 12",
    kind=BuildKind.ENVIRONMENT,
    place="/data/engines/made-cuda/1",
    in_use=False,
    devices=(CPU, RTX),
    token=True,
    installed_on="2026-11-30",
)
PROGRAM = replace(
    OURS, id="made-program-1", title="/opt/made", kind=BuildKind.PROGRAM, place="/opt/made", in_use=False, version=None
)
RADEON = Device("1", "amd", "Radeon RX 7900 XTX", Memory(MemoryKind.DEDICATED, 24 * GIB, None))
CPU_ALONE = Told("made", "Made", "1.0", (CPU,))


def known(*builds, engine=MADE, recipes=(PLAIN, CUDA), system=SYSTEM, **changes):
    return Known({engine.id: engine}, builds, recipes, system, **changes)


def by_id(found, device=GPU):
    (look,) = looks(found, machine(devices=(device,) if device else ()))
    return {one.id: one for one in (*look.builds, *look.others)}, look


def told_with_offers(*builds, recipes=(PLAIN, CUDA)):
    return [replace(CPU_ALONE, offers=offers(builds, recipes, SYSTEM))]


def test_what_came_along_is_in_use_and_says_what_it_sees():
    shown, look = by_id(known(OURS, told={"made": CPU_ALONE}))
    ours = shown["made"]
    assert (look.title, look.formats) == ("Made", ("gguf",))
    assert (ours.state, ours.about) == (BuildState.IN_USE, "Version 1.0 · licence MIT")
    assert ours.sees == f"Sees CPU (AMD Ryzen 7 7700, 64.0{THIN}GiB)"
    assert ours.acts == (Act.PROBE, Act.COPY)
    assert ours.command == "weighbridge engines use made"


def test_an_environment_tells_its_disk_its_day_and_whether_it_was_tried():
    shown, _ = by_id(known(OURS, APART, bytes_of={"made-cuda": 400 << 20}, logs=frozenset({"made-cuda"})))
    apart = shown["made-cuda"]
    assert apart.state is BuildState.HERE
    assert apart.about == f"Version 1.0 · 400.0{THIN}MiB on the disk · licence MIT · installed on 2026-11-30"
    assert apart.sees.endswith(f"CUDA0 (NVIDIA GeForce RTX 3090, 24.0{THIN}GiB)")
    assert not apart.untried  # it has written a token here
    without, _ = by_id(known(OURS, replace(APART, token=None)))
    assert without["made-cuda"].untried
    assert without["made-cuda"].said == "No model was here that it could be tried with when it was installed."
    assert apart.acts == (Act.USE, Act.NEWER, Act.UPDATE, Act.PROBE, Act.LOG, Act.COPY, Act.REMOVE)


def test_what_was_told_last_stands_before_what_was_told_when_it_came():
    problem = Cause("engine.devices_failed", {"engine": "Made", "reason": "no driver"})
    answers = {"made-cuda": Told("made", "Made", "1.0", (CPU,)), "made": Told("made", "Made", "1.0", None, problem)}
    shown, _ = by_id(known(OURS, APART, told=answers))
    assert "CUDA0" not in shown["made-cuda"].sees
    assert "no driver" in shown["made"].said
    assert shown["made"].sees == ""
    shown, _ = by_id(known(OURS))
    assert shown["made"].sees == "It has not told what it can compute on."


def test_a_build_that_can_be_had_says_what_it_costs_from_where():
    shown, look = by_id(known(OURS))
    assert [one.id for one in look.builds] == ["made", "made-cuda"]
    assert ([one.id for one in look.others], look.suited) == (["made-plain"], 1)
    cuda = shown["made-cuda"]
    assert cuda.state is BuildState.CAN_BE
    assert cuda.about == f"Some 400.0{THIN}MiB from wheels.example · licence MIT"
    assert (cuda.untried, shown["made-plain"].untried) == (True, False)
    assert cuda.acts == (Act.INSTALL, Act.WHEELS, Act.COPY)
    assert cuda.command == "weighbridge engines install made-cuda"


def test_pytorch_s_own_index_is_told_where_it_is_asked():
    shown, _ = by_id(known(OURS, recipes=(replace(CUDA, index=None, torch="cu130"),)))
    assert shown["made-cuda"].about.startswith(
        f"Some 400.0{THIN}MiB from the package index and download.pytorch.org · licence MIT"
    )


def test_an_unknown_download_is_not_told_as_nothing():
    shown, _ = by_id(known(OURS, recipes=(replace(CUDA, download_bytes=None),)))
    assert shown["made-cuda"].about.startswith("From wheels.example, how much is not known")


@pytest.mark.parametrize(
    ("recipe", "device", "said"),
    [
        (CUDA, None, "No card of NVIDIA is seen here."),
        (CUDA, RADEON, "No card of NVIDIA is seen here."),
        (
            replace(CUDA, least_driver="580"),
            GPU,
            "It needs driver 580 or newer; that of NVIDIA GeForce RTX 3090 is 550.120.",
        ),
        (
            replace(CUDA, least_compute_capability="7.5"),
            replace(GPU, compute_capability="6.1"),
            "It needs compute capability 7.5 or newer; NVIDIA GeForce RTX 3090 has 6.1.",
        ),
        (CUDA, GPU, ""),
        (PLAIN, None, ""),
    ],
)
def test_why_a_build_suits_no_card_here(recipe, device, said):
    assert why_unsuited(recipe, machine(devices=(device,) if device else ())) == said


def test_a_build_that_suits_no_card_stands_below_the_fold_and_can_be_had():
    shown, look = by_id(known(OURS), device=None)
    assert [one.id for one in look.others] == ["made-plain", "made-cuda"]
    assert Act.INSTALL in shown["made-cuda"].acts


def test_what_is_not_for_this_system_cannot_be_here():
    shown, look = by_id(known(OURS, recipes=(CUDA,), system=System("darwin-arm64")))
    cuda = shown["made-cuda"]
    assert (look.others, cuda.state) == ((cuda,), BuildState.CANNOT_BE)
    assert (cuda.said, cuda.acts) == ("There is none for this system (darwin-arm64).", ())


def test_a_c_library_that_is_too_old_is_said():
    recipe = replace(CUDA, least_glibc="2.38")
    assert why_not_here(recipe, SYSTEM) == "It needs glibc 2.38 or newer; here is 2.36."
    assert why_not_here(recipe, System("linux-x86_64")) == ""


def test_an_absent_library_gives_way_to_builds_that_can_be_had():
    nothing = replace(OURS, missing=Cause("engine.not_installed", {"engine": "Made", "install": "pip"}), version=None)
    shown, _ = by_id(known(nothing, engine=ABSENT))
    assert "made" not in shown
    shown, _ = by_id(known(nothing, replace(APART, in_use=True), recipes=()))
    assert list(shown) == ["made-cuda"]
    shown, _ = by_id(known(nothing, engine=ABSENT, recipes=()))
    assert (shown["made"].state, shown["made"].title) == (BuildState.ABSENT, "Your own copy")
    assert "Made is not installed" in shown["made"].said


def test_an_environment_that_is_broken_can_be_installed_again():
    broken = Cause("build.broken", {"path": "/data/engines/made-cuda/1", "build": "made-cuda"})
    shown, _ = by_id(known(OURS, replace(APART, missing=broken)))
    assert shown["made-cuda"].state is BuildState.BROKEN
    assert "no working Python" in shown["made-cuda"].said
    assert shown["made-cuda"].sees == ""  # it can compute on nothing now
    assert shown["made-cuda"].acts == (Act.INSTALL, Act.COPY, Act.REMOVE)


def test_a_program_that_was_only_found_is_not_taken_off_the_list():
    shown, _ = by_id(known(OURS, PROGRAM))
    assert Act.FORGET not in shown["made-program-1"].acts
    shown, _ = by_id(known(OURS, replace(PROGRAM, version="b9000")))
    assert Act.FORGET in shown["made-program-1"].acts
    assert shown["made-program-1"].about == "Your program · Version b9000"


def test_where_what_is_here_sees_a_card_no_other_build_is_put_before_the_user():
    _, look = by_id(known(OURS, told={"made": replace(CPU_ALONE, devices=(CPU, RTX))}))
    assert [one.id for one in look.builds] == ["made"]
    assert [one.id for one in look.others] == ["made-cuda", "made-plain"]


def test_of_an_engine_that_is_not_here_the_build_that_suits_best_is_shown():
    nothing = replace(OURS, missing=Cause("engine.not_installed"), version=None)
    _, look = by_id(known(nothing, engine=ABSENT, recipes=(CUDA, PLAIN)))
    assert ([one.id for one in look.builds], [one.id for one in look.others]) == (["made-cuda"], ["made-plain"])
    _, look = by_id(known(nothing, engine=ABSENT, recipes=(CUDA, PLAIN)), device=None)
    assert ([one.id for one in look.builds], [one.id for one in look.others]) == (["made-plain"], ["made-cuda"])


def test_engines_that_are_here_come_first_then_those_for_this_machine_then_the_rest():
    names = ("llama_cpp", "vllm", "exllamav3", "mlx", "llama_server")
    engines = {name: replace(ABSENT, id=name) for name in names}
    nothing = replace(OURS, missing=Cause("engine.not_installed"), version=None)
    builds = [replace(nothing, id=name, engine_id=name) for name in names if name != "llama_cpp"]
    builds.append(replace(OURS, id="llama_cpp", engine_id="llama_cpp"))
    recipes = [replace(CUDA, id=f"{name}-cuda", engine_id=name) for name in ("vllm", "exllamav3")]
    recipes += [replace(PLAIN, id="llama_server-plain", engine_id="llama_server")]
    recipes += [replace(PLAIN, id="mlx-metal", engine_id="mlx", systems=("darwin-arm64",))]
    found = Known(engines, builds, recipes, SYSTEM)
    with_card = [(look.standing, look.id) for look in looks(found, machine(devices=(GPU,)))]
    assert with_card == [
        (Standing.HERE, "llama_cpp"),
        (Standing.SUITED, "llama_server"),
        (Standing.SUITED, "exllamav3"),
        (Standing.SUITED, "vllm"),
        (Standing.OTHER, "mlx"),
    ]
    without = {look.id: look.standing for look in looks(found, machine())}
    assert (without["exllamav3"], without["llama_server"]) == (Standing.OTHER, Standing.SUITED)


@pytest.mark.parametrize(
    ("hardware", "device", "stands"),
    [
        (Hardware(frozenset({"nvidia"}), processor=False), GPU, Standing.SUITED),
        (Hardware(frozenset({"nvidia"}), processor=False), None, Standing.OTHER),
        (
            Hardware(frozenset({"nvidia"}), False, least_compute_capability="9.0"),
            replace(GPU, compute_capability="8.6"),
            Standing.OTHER,
        ),
        (Hardware(), None, Standing.SUITED),
        (None, GPU, Standing.OTHER),
    ],
)
def test_what_we_never_install_stands_by_what_it_computes_on(hardware, device, stands):
    nothing = replace(OURS, missing=Cause("program.to_get", {"program": "made", "get": "here"}), version=None)
    _, look = by_id(known(nothing, engine=replace(ABSENT, hardware=hardware), recipes=()), device)
    assert look.standing is stands


def test_a_server_of_somebody_else_is_no_card():
    assert looks(known(OURS, engine=replace(MADE, attach=str)), machine()) == ()


def test_what_should_be_known_of_an_engine_is_said_with_it():
    _, look = by_id(known(OURS, engine=replace(MADE, notes=("program.note.licence_agpl", "Slow on Mondays."))))
    assert (len(look.notes), look.notes[1], look.archived) == (2, "Slow on Mondays.", False)
    assert "AGPL" in look.notes[0]
    old = replace(MADE, id="exllamav2")
    (look,) = looks(known(replace(OURS, engine_id="exllamav2"), engine=old), machine())
    assert (look.archived, look.notes) == (True, ("Its own project has ended: nothing of it is mended any more.",))


def test_what_a_build_needs_besides_and_where_it_was_not_tried_is_said():
    recipe = replace(CUDA, needs=("cuda_toolkit", "compiler"), verified=True, untried_vendors=("nvidia",))
    shown, _ = by_id(known(OURS, recipes=(recipe,)))
    assert shown["made-cuda"].needs == (
        "It compiles its kernels when it is first used, for minutes, and needs the CUDA toolkit and a C++ compiler for "
        "that. Nobody has run it for us on cards of NVIDIA."
    )
    shown, _ = by_id(known(OURS, recipes=(replace(recipe, verified=False, needs=()),)))
    assert (shown["made-cuda"].needs, shown["made-cuda"].untried) == ("", True)


def test_a_build_that_suits_nothing_here_is_shown_with_its_reason_where_there_is_no_other():
    nothing = replace(OURS, missing=Cause("engine.not_installed"), version=None)
    shown, look = by_id(known(nothing, engine=ABSENT, recipes=(replace(CUDA, least_driver="580"),)))
    assert ([one.id for one in look.builds], look.others, look.standing) == (["made-cuda"], (), Standing.OTHER)
    assert shown["made-cuda"].said.startswith("It needs driver 580 or newer")


@pytest.mark.parametrize(
    ("licence", "words"),
    [("MIT", "licence MIT"), ("MIT AND LicenseRef-NVIDIA-Proprietary", "licences MIT, NVIDIA's own")],
)
def test_licences_are_said_in_words(licence, words):
    assert licence_in_words(licence) == words


def test_the_engine_for_trials_is_no_card():
    assert looks(Known({"echo": ECHO}, (), (), SYSTEM), machine()) == ()


def test_what_it_cannot_do_is_said_in_words():
    everything = frozenset(Capability)
    assert cannot_in_words(everything) == ""
    assert cannot_in_words(everything - {Capability.VISION, Capability.SCORE}) == (
        "It cannot read images, score given tokens."
    )


def test_a_card_that_nothing_uses_is_hinted_at_with_the_build_that_would():
    (hint,) = hints(known(OURS), (), told_with_offers(OURS), machine(devices=(GPU,)))
    assert hint.said == "NVIDIA GeForce RTX 3090 is not used: the CUDA 12 build of Made can use it."
    assert (hint.build_id, hint.act) == ("made-cuda", Act.INSTALL)
    assert hint.about.startswith(f"Some 400.0{THIN}MiB from wheels.example · not tried by us")


def test_two_cards_are_one_hint():
    other = replace(GPU, id="1", name="NVIDIA GeForce RTX 3060")
    (hint,) = hints(known(OURS), (), told_with_offers(OURS), machine(devices=(GPU, other)))
    assert hint.said.startswith("NVIDIA GeForce RTX 3090 and NVIDIA GeForce RTX 3060 are not used")


def test_a_build_that_is_here_is_to_be_used():
    (hint,) = hints(known(OURS, APART), (), told_with_offers(OURS, APART), machine(devices=(GPU,)))
    assert (hint.build_id, hint.act, hint.title) == ("made-cuda", Act.USE, "Use it")


def test_a_card_without_any_build_is_told_without_a_button():
    (hint,) = hints(known(OURS), (), told_with_offers(OURS, recipes=()), machine(devices=(GPU,)))
    assert (hint.build_id, "NVIDIA GeForce RTX 3090" in hint.said) == ("", True)


@pytest.mark.parametrize(
    ("device", "build_id"), [(GPU, "llama_server-cuda"), (RADEON, "llama_server-plain"), (None, "llama_server-plain")]
)
def test_without_any_engine_the_build_that_suits_the_machine_is_the_one_to_install(device, build_id):
    recipes = tuple(
        replace(one, id=one.id.replace("made", "llama_server"), engine_id="llama_server") for one in (PLAIN, CUDA)
    )
    engine = replace(ABSENT, id="llama_server", title="llama.cpp")
    nothing = replace(
        OURS, id=engine.id, engine_id=engine.id, engine_title="llama.cpp", missing=Cause("engine.not_installed")
    )
    found = known(nothing, engine=engine, recipes=recipes)
    devices = (device,) if device else ()
    (hint,) = hints(found, offers([nothing], recipes, SYSTEM), (), machine(devices=devices))
    assert hint.said == "No engine is installed, so no model can run yet. llama.cpp suits this machine."
    assert (hint.build_id, hint.title) == (build_id, "Install llama.cpp")
