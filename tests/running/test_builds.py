"""Which build would use which card, as tables."""

from dataclasses import replace

import pytest
from tests.running.made_builds import APART, CARD, CARDS, LINUX, PROCESSOR

from weighbridge.hardware.machine import Device, Memory, MemoryKind
from weighbridge.running.builds import (
    Build,
    BuildKind,
    System,
    best_offer,
    offers,
    read_recipes,
    runs_on,
    version_key,
)
from weighbridge.running.choose import PREFERRED
from weighbridge.running.recipes import recipes_here, this_system
from weighbridge_engines.api import Cause
from weighbridge_engines.catalogue import catalogue

RECIPES = recipes_here()
OURS = Build(
    "llama_server", "llama_server", "llama.cpp", "", BuildKind.OURS, "", "1", in_use=True, devices=(PROCESSOR,)
)
MEMORY = Memory(MemoryKind.DEDICATED, None, None)


def device(vendor="nvidia", driver=None, capability=None):
    return Device("d", vendor, "A Card", MEMORY, driver=driver, compute_capability=capability)


def best(card, builds=(OURS,), system=LINUX, recipes=RECIPES):
    offer = best_offer(card, offers(builds, recipes, system))
    return offer and offer.build_id


@pytest.mark.parametrize(
    ("card", "build"),
    [
        (device(), "llama_server-cuda13"),
        (device(driver="580.65.06", capability="8.6"), "llama_server-cuda13"),
        (device(driver="570.10", capability="8.6"), "llama_server-cuda12"),
        (device(driver="580.65", capability="6.1"), "llama_server-cuda12"),
        (device(driver="470.10", capability="8.6"), "llama_server-vulkan"),
        (device(driver="470.10", capability="3.5"), "llama_server-vulkan"),
        (device("amd", driver="6.8"), "llama_server-vulkan"),
        (device("intel"), "llama_server-vulkan"),
        (device("other"), None),
    ],
)
def test_which_build_a_card_wants(card, build):
    assert best(card) == build


@pytest.mark.parametrize(
    ("system", "build"),
    [
        (System("windows-amd64"), "llama_server-cuda13"),
        (System("linux-aarch64", "2.39"), "llama_server-cuda13"),
        (System("linux-x86_64", "2.31"), "llama_server-vulkan"),
        (System("linux-riscv64", "2.39"), None),
    ],
)
def test_the_system_decides_too(system, build):
    assert best(device(), system=system) == build


def test_apple_s_own_chips_run_what_everybody_gets():
    assert best(device("apple"), system=System("darwin-arm64")) == "llama_server-plain"


def test_a_build_that_is_here_comes_before_one_to_install():
    here = Build("x", "llama_server", "llama.cpp", "X", BuildKind.PROGRAM, "/x", "1", in_use=False, devices=(CARD,))
    assert best(device(), (OURS, here)) == "x"
    assert best(device("amd"), (OURS, here)) == "llama_server-vulkan"
    assert best(device(), (OURS, replace(here, missing=Cause("build.no_program")))) == "llama_server-cuda13"
    assert best(device(), (OURS, replace(here, devices=None))) == "llama_server-cuda13"


def test_what_is_installed_or_in_use_is_not_offered_to_be_installed():
    used = replace(OURS, id="llama_server-cuda13", devices=(CARD,))
    assert best(device(), (replace(OURS, in_use=False), used)) == "llama_server-cuda12"


def test_what_somebody_has_tried_comes_first():
    tried = replace(CARDS, id="b", verified=True)
    untried = replace(CARDS, id="a", verified=False)
    build = replace(OURS, engine_id="echo")
    assert best(device(), (build,), recipes=(untried, tried)) == "b"
    assert [offer.verified for offer in offers((build,), (untried, tried), LINUX)] == [True, False]


def test_engines_that_are_not_known_here_are_not_offered():
    assert not [offer for offer in offers((OURS,), RECIPES, LINUX) if offer.engine_id != "llama_server"]


@pytest.mark.parametrize(
    ("glibc", "least", "runs"),
    [("2.35", "2.35", True), ("2.9", "2.35", False), (None, "2.35", True), ("2.31", None, True)],
)
def test_the_c_library_is_compared_by_numbers(glibc, least, runs):
    assert runs_on(replace(APART, least_glibc=least), System("linux-x86_64", glibc)) is runs


@pytest.mark.parametrize(
    ("version", "key"), [("580.65.06", (580, 65, 6)), ("12", (12,)), (None, (0,)), ("8.x", (8, 0))]
)
def test_versions_are_numbers(version, key):
    assert version_key(version) == key


def test_the_table_is_whole():
    assert len({recipe.id for recipe in RECIPES}) == len(RECIPES)
    for recipe in RECIPES:
        assert recipe.id.startswith(f"{recipe.engine_id}-")
        assert recipe.api in ("cpu", "cuda", "rocm", "vulkan", "metal", "directml")
        assert set(recipe.vendors) <= {"nvidia", "amd", "intel", "apple"}
        assert set(recipe.untried_vendors) <= set(recipe.vendors)
        assert set(recipe.needs) <= {"cuda_toolkit", "compiler"}
        assert recipe.torch is None or recipe.torch in ("cpu", "cu128", "cu130")
        assert recipe.requirements and recipe.licence and recipe.source and recipe.systems
        assert recipe.index is None or recipe.index.startswith("https://")
        assert version_key(recipe.least_python) >= (3, 11)


def test_each_build_is_of_an_engine_that_there_is_and_that_is_tried_in_an_order():
    engines = {recipe.engine_id for recipe in RECIPES}
    assert engines <= set(catalogue()) & set(PREFERRED)


def test_what_is_under_the_agpl_is_never_installed_by_us():
    assert not [recipe.id for recipe in RECIPES if recipe.engine_id in ("tabbyapi", "aphrodite")]
    assert not [recipe.id for recipe in RECIPES if "GPL" in recipe.licence]


@pytest.mark.parametrize(("vendor", "verified"), [("apple", False), ("nvidia", True)])
def test_a_build_may_be_tried_and_yet_not_on_every_maker_s_cards(vendor, verified):
    offer = next(one for one in offers((replace(OURS, id="x"),), RECIPES, System("darwin-arm64")) if one.verified)
    assert (offer.build_id, offer.verified_on(device(vendor))) == ("llama_server-plain", verified)


def test_an_entry_is_read():
    (recipe,) = read_recipes(
        '[[build]]\nid = "a-b"\nengine = "a"\ntitle = "B"\napi = "cpu"\nvendors = []\nsystems = ["x"]\n'
        'requirements = ["w"]\nleast_python = "3.11"\nlicence = "MIT"\nverified = true\n'
        'source = "s"\ndownload_mib = 2\ntorch = "cu130"\nneeds = ["compiler"]\nuntried_vendors = ["intel"]\n'
    )
    assert (recipe.engine_id, recipe.download_bytes, recipe.index, recipe.least_driver) == ("a", 2 << 20, None, None)
    assert (recipe.torch, recipe.needs, recipe.untried_vendors) == ("cu130", ("compiler",), ("intel",))


def test_this_system_has_a_name():
    name, separator, machine = this_system().name.partition("-")
    assert name and separator and machine
