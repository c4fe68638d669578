"""KV cache, state and compute buffer of small models against what llama.cpp's log told of them."""

import json
from pathlib import Path

import pytest

from weighbridge.estimates.blueprint import blueprint
from weighbridge.estimates.estimate import HOST, Place, PlaceKind, Term
from weighbridge.estimates.memory import estimate
from weighbridge.estimates.plan import Plan
from weighbridge.formats.gguf import Header
from weighbridge.formats.model import model_info

MIB = 1 << 20
PLACES = (Place(HOST, "", PlaceKind.HOST),)
LOGGED_MIB = 0.01
COMPUTE_SHARE = 0.25
FILE = Path(__file__).parents[1] / "data" / "fit_vectors.json"
VECTORS = [vector for vector in json.loads(FILE.read_text()) if "error" not in vector["expect"]]
"""One more is a load that the engine refuses."""


def test_there_are_enough_vectors():
    assert len(VECTORS) == 139


def header(vector):
    """The hyper-parameters alone: there is no table of tensors."""
    values = {
        f"{vector['arch']}.{name}": tuple(value) if isinstance(value, list) else value
        for name, value in vector["md"].items()
    }
    values["general.architecture"] = vector["arch"]
    return Header(3, 0, values, True, 0)


def plan(config):
    slots = config.get("n_parallel", 1)
    return Plan(
        context=config["n_ctx"],
        slots=slots,
        unified=bool(config.get("kv_unified", 0)),
        key_type=config.get("cache_type_k", "F16").lower(),
        value_type=config.get("cache_type_v", "F16").lower(),
        batch=config.get("n_batch", 2048),
        micro_batch=config.get("n_ubatch", 512),
        whole_window=bool(config.get("swa_full", 0)),
    )


def named(vector):
    return " ".join([vector["arch"], *(f"{name}={value}" for name, value in vector["config"].items())])


@pytest.mark.parametrize("vector", VECTORS, ids=map(named, VECTORS))
def test_a_vector(vector):
    expected = vector["expect"]
    info = model_info(header(vector), "made")
    figure = estimate(blueprint(info, 0), plan(vector["config"]), PLACES)
    assert figure.term(Term.KV) / MIB == pytest.approx(expected["kv_mib"], abs=LOGGED_MIB)
    assert figure.term(Term.STATE) / MIB == pytest.approx(expected["rs_mib"], abs=LOGGED_MIB)
    if expected["compute_mib"] is not None:
        assert figure.term(Term.COMPUTE) / MIB == pytest.approx(expected["compute_mib"], rel=COMPUTE_SHARE)
