"""How far a load is, in words."""

from dataclasses import replace

from weighbridge.base.units import THIN
from weighbridge.choices.load_words import STAGE_WORDS, load_in_words, stage_in_words
from weighbridge.running.state import Running, State
from weighbridge_engines.api import STAGES, Load

LOADING = Running("m", "M", "exllamav3", State.LOADING, Load("m"), stage="weights", since_s=100.0, moved_s=100.0)


def test_every_stage_of_the_contract_has_words():
    assert list(STAGE_WORDS) == list(STAGES)


def test_a_stage_with_its_steps_and_without():
    assert stage_in_words(LOADING) == "Loading the weights"
    assert stage_in_words(replace(LOADING, steps=(12, 57))) == "Loading the weights · 12 of 57"
    assert stage_in_words(replace(LOADING, stage="kernels", steps=(3, 57))) == "Building kernels · 3 of 57"


def test_a_stage_that_nobody_knows_is_shown_as_it_is():
    assert stage_in_words(replace(LOADING, stage="unpacking", steps=(1, 2))) == "unpacking · 1 of 2"


def test_the_time_so_far_and_that_nothing_was_heard_for_long():
    assert load_in_words(LOADING, 103.25) == f"Loading the weights · 3.2{THIN}s"
    assert load_in_words(LOADING, 140.0) == (f"Loading the weights · 40.0{THIN}s · no sign for 40{THIN}s; it may go on")


def test_nothing_is_loaded_of_what_an_endpoint_serves():
    assert stage_in_words(replace(LOADING, engine_id="endpoint", stage="starting")) == "Asking its server"
