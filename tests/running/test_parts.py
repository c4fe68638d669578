from dataclasses import replace
from pathlib import Path

import pytest
from tests.formats.made_gguf import gguf

from weighbridge.base.errors import NotFound
from weighbridge.choices.part_words import pairing_in_words, role_in_words
from weighbridge.estimates.beside import Beside
from weighbridge.formats.pairing import UNTOLD, Compared, Pairing
from weighbridge.formats.variant import Role
from weighbridge.library.marks import Mark
from weighbridge.library.model import Helper, Model
from weighbridge.running.parts import Parts, beside, named, parts_of, with_parts
from weighbridge_engines.api import Load

SEES = Helper(Role.PROJECTOR, Path("/m/mmproj.gguf"), 600)
DRAFTS = Helper(Role.DRAFT, Path("/m/draft.gguf"), 300)
MODEL = Model("m", "m", Path("/m/m.gguf"), (Path("/m/m.gguf"),), "gguf", "Q4_0", 4000, companions=(SEES, DRAFTS))


def test_nothing_is_loaded_beside_a_model_until_it_is_chosen():
    assert parts_of(MODEL, Mark()) == ()
    assert parts_of(MODEL, Mark(parts={Role.PROJECTOR: None})) == ()


def test_what_is_chosen_is_loaded_where_it_is_there(tmp_path):
    other = tmp_path / "lora.gguf"
    other.write_bytes(bytes(70))
    chosen = {Role.PROJECTOR: SEES.path, Role.ADAPTER: other, Role.DRAFT: tmp_path / "gone.gguf"}
    assert parts_of(MODEL, Mark(parts=chosen)) == (SEES, Helper(Role.ADAPTER, other, 70))


def test_an_importance_matrix_is_never_loaded():
    assert parts_of(MODEL, Mark(parts={Role.IMATRIX: SEES.path})) == ()


def test_the_nearest_of_a_role_is_named_and_none_is_an_error():
    assert named(MODEL, ["draft", "projector"]) == (DRAFTS, SEES)
    with pytest.raises(NotFound, match=r"model\.no_companion"):
        named(MODEL, ["adapter"])


def test_parts_are_weighed_by_their_roles():
    lora = Helper(Role.ADAPTER, Path("/lora.gguf"), 20)
    digested = object()
    assert beside((SEES, DRAFTS, lora, lora), lambda helper: digested if helper is DRAFTS else None) == Beside(
        600, 40, digested
    )
    assert beside((), lambda helper: digested).nothing


def test_a_load_names_its_parts():
    lora = Helper(Role.ADAPTER, Path("/lora.gguf"), 20)
    load = with_parts(Load("/m/m.gguf"), (SEES, DRAFTS, lora))
    assert (load.projector, load.draft, load.adapters) == (str(SEES.path), str(DRAFTS.path), (str(lora.path),))
    assert with_parts(load, ()) == Load("/m/m.gguf")
    assert Load.from_json(load.as_json()) == load


@pytest.fixture
def chosen(tmp_path):
    """A model beside which the user has put a projector and a draft."""
    keys = {"general.architecture": "llama", "llama.block_count": 2, "llama.nextn_predict_layers": 1}
    (tmp_path / "draft.gguf").write_bytes(gguf(keys | {"llama.embedding_length": 64}))
    (tmp_path / "mmproj.gguf").write_bytes(bytes(600))
    files = {Role.DRAFT: tmp_path / "draft.gguf", Role.PROJECTOR: tmp_path / "mmproj.gguf"}
    return Parts(lambda model: Mark(parts=files) if model.title == "m" else Mark())


def test_what_is_chosen_is_named_in_the_load_and_weighed(chosen, tmp_path):
    load = chosen.named_in(Load("/m/m.gguf"), MODEL)
    assert (load.projector, load.draft) == (str(tmp_path / "mmproj.gguf"), str(tmp_path / "draft.gguf"))
    assert load.draft_kind == "mtp"
    weighed = chosen.beside(load)
    assert weighed.projector_bytes == 600
    assert weighed.draft is not None
    assert weighed.draft.architecture == "llama"


def test_a_draft_is_read_once_until_it_changes(chosen, tmp_path, monkeypatch):
    read = []
    monkeypatch.setattr("weighbridge.running.parts.header_at", lambda path: read.append(path.name))
    load = replace(Load("/m/m.gguf"), draft=str(tmp_path / "draft.gguf"))
    assert chosen.beside(load).draft is None
    chosen.beside(load)
    assert read == ["draft.gguf"]
    (tmp_path / "draft.gguf").write_bytes(bytes(1234))
    chosen.beside(load)
    assert len(read) == 2


def test_what_is_gone_weighs_nothing(chosen, tmp_path):
    load = chosen.named_in(Load("/m/m.gguf"), MODEL)
    (tmp_path / "mmproj.gguf").unlink()
    (tmp_path / "draft.gguf").unlink()
    assert chosen.beside(load).nothing


def test_a_load_without_a_choice_is_as_it_was(chosen):
    load = Load("/m/m.gguf")
    assert chosen.named_in(load, replace(MODEL, title="other")) is load
    assert chosen.named_in(load, replace(MODEL, format="exl3")) is load
    assert chosen.beside(load).nothing


def test_whether_a_file_is_for_a_model_in_words():
    other = Pairing(False, Compared.EMBEDDING, 2048, 4096)
    assert pairing_in_words(other) == "For another model: 2,048 against 4,096 wide"
    assert pairing_in_words(Pairing(True, Compared.EMBEDDING, 4096, 4096)) == "For this model"
    assert "do not tell" in pairing_in_words(UNTOLD)
    assert role_in_words(Role.DRAFT) == "Draft model"


@pytest.mark.parametrize("by", [each for each in Compared if each is not Compared.BASE])
def test_each_reason_has_words(by):
    assert pairing_in_words(Pairing(False, by, "a", "b")) not in ("", "For this model")
