import pytest

from weighbridge.choices.setting_titles import TITLES
from weighbridge.choices.setting_words import refusal_in_words, setting_hint, setting_in_words, setting_name
from weighbridge.running.effective import TOLD_ALONE
from weighbridge_engines.api import Cause
from weighbridge_engines.catalogue import catalogue


@pytest.mark.parametrize("engine_id", [each.id for each in catalogue().values()])
def test_every_setting_of_an_engine_has_a_title_and_a_sentence(engine_id):
    names = [one.name for one in catalogue()[engine_id].controls]
    assert [name for name in names if name not in TITLES] == []
    assert [name for name in names if not setting_hint(name).endswith(".")] == []


def test_what_is_told_alone_has_a_title_and_a_sentence():
    assert [name for name in TOLD_ALONE if not setting_hint(name).endswith(".")] == []


def test_a_setting_that_is_not_known_is_shown_as_it_is():
    assert (setting_name("new_thing"), setting_hint("new_thing")) == ("new_thing", "")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (8192, "8,192"),
        (True, "on"),
        (0.05, "0.05"),
        (1.0, "1"),
        (3.5, "3.5"),
        ((3, 1.5), "3, 1.5"),
        ("q8_0", "q8_0"),
        (None, "auto"),
    ],
)
def test_values(value, shown):
    assert setting_in_words("anything", value, "auto") == shown


def test_memory_is_shown_with_its_unit_unless_that_stands_beside_it():
    assert setting_in_words("prompt_cache_mib", 753) == "753\u202fMiB"
    assert setting_in_words("prompt_cache_mib", 753, with_unit=False) == "753"
    assert setting_in_words("prompt_cache_mib", None, "auto") == "auto"


def test_files_are_shown_by_their_names():
    assert setting_in_words("projector", "/far/away/mmproj.gguf") == "mmproj.gguf"
    assert setting_in_words("adapters", ("/a/one.gguf", "/b/two.gguf")) == "one.gguf, two.gguf"


def test_a_refusal_names_settings_as_a_person_reads_them():
    told = str(refusal_in_words(Cause("setting.needs", {"name": "value_type", "needs": "flash_attention"})))
    assert told.startswith("KV cache: values cannot be used with Flash attention as it is set.")
    told = str(refusal_in_words(Cause("setting.range", {"name": "top_p", "value": "3", "low": "0", "high": "1"})))
    assert "Top-p" in told
    assert "0" in told
    assert "1" in told
