"""Two tables, each row a case: which engine comes first on a machine and for a load, and which are named beside it."""

import pytest
from tests.choices.advice.made_grounds import advised, on_processor, titled, with_cards

from weighbridge.choices.advice.answers import Goal, Hardware, Link, Need, Purpose, Room, Sharing


def laptop():
    return on_processor()


def on_intel():
    return on_processor("Intel(R) Xeon(R) Platinum 8480+")


def on_core_ultra():
    return on_processor("Intel(R) Core(TM) Ultra 7 155H")


def mac():
    return with_cards("M4 Max 40-core", ram_gib=64)


def rtx():
    return with_cards("RTX 4090")


def old_rtx():
    return with_cards("RTX 2080 Ti")


def two_rtx():
    return with_cards("RTX 3090", 2)


def node():
    return with_cards("H100 SXM5 80 GB", 8, 1024)


def blackwell():
    return with_cards("B200", 8, 2048)


def radeon():
    return with_cards("Radeon RX 7900 XTX")


def instinct():
    return with_cards("Instinct MI300X", 8, 2048)


def arc():
    return with_cards("Arc B580")


SERVING = {"purpose": Purpose.SERVING, "users": 32}

HARDWARE = [
    ("laptop, CPU only", laptop, {}, "llama.cpp", {"OpenVINO", "ONNX Runtime GenAI"}),
    ("Mac", mac, {}, "MLX", {"llama.cpp"}),
    ("one RTX, one user", rtx, {}, "ExLlamaV3", {"llama.cpp", "vLLM"}),
    ("one RTX, several users", rtx, {"users": 4}, "vLLM", {"SGLang", "LMDeploy", "ExLlamaV3"}),
    ("one RTX, EXL2 files that one has", rtx, {"format": "exl2"}, "ExLlamaV2", set()),
    ("one RTX, GGUF files that one has", rtx, {"format": "gguf"}, "llama.cpp", set()),
    ("one RTX before compute capability 8.0", old_rtx, {}, "llama.cpp", {"vLLM"}),
    ("two consumer cards", two_rtx, {}, "ExLlamaV3", {"vLLM"}),
    ("two consumer cards, serving", two_rtx, SERVING, "vLLM", {"SGLang", "LMDeploy", "ExLlamaV3"}),
    ("8 x H100", node, {}, "vLLM", {"SGLang", "TensorRT-LLM", "NVIDIA Dynamo"}),
    ("8 x H100, serving", node, SERVING, "vLLM", {"SGLang", "LMDeploy", "TensorRT-LLM"}),
    ("B200", blackwell, {}, "TensorRT-LLM", {"SGLang", "vLLM", "NVIDIA Dynamo"}),
    ("AMD MI300", instinct, {}, "vLLM", {"SGLang"}),
    ("AMD Radeon", radeon, {}, "llama.cpp", {"vLLM"}),
    ("Intel Xeon", on_intel, {}, "OpenVINO", {"ONNX Runtime GenAI", "llama.cpp"}),
    ("Intel Core Ultra", on_core_ultra, {}, "OpenVINO", {"ONNX Runtime GenAI", "llama.cpp"}),
    ("Intel Arc", arc, {}, "OpenVINO", {"llama.cpp"}),
    ("inside an application", laptop, {"purpose": Purpose.APPLICATION}, "MLC LLM", {"ONNX Runtime GenAI", "llama.cpp"}),
]

AGENTS = {**SERVING, "sharing": Sharing.AGENTS}
LOADS = [
    ("one chat, processor", laptop, {}, "llama.cpp"),
    ("one chat, Mac", mac, {}, "MLX"),
    ("one chat, RTX", rtx, {}, "ExLlamaV3"),
    ("many users, standard formats", node, SERVING, "vLLM"),
    ("shared beginnings", node, {**SERVING, "sharing": Sharing.START}, "SGLang"),
    ("agents", node, AGENTS, "SGLang"),
    ("structured output", node, {**SERVING, "needs": frozenset({Need.JSON_SCHEMA})}, "SGLang"),
    ("long context", node, {**SERVING, "context": 131_072}, "SGLang"),
    ("a fixed model for weeks", node, {"purpose": Purpose.FIXED}, "TensorRT-LLM"),
    ("a fixed model for weeks, not NVIDIA", instinct, {"purpose": Purpose.FIXED}, "vLLM"),
    ("samplers and throughput", rtx, {**SERVING, "needs": frozenset({Need.SAMPLERS})}, "Aphrodite"),
    ("compress and serve", rtx, {**SERVING, "needs": frozenset({Need.COMPRESS})}, "LMDeploy"),
    ("vision models, serving", rtx, {**SERVING, "needs": frozenset({Need.VISION})}, "LMDeploy"),
    ("is it the engine or the model", rtx, {"purpose": Purpose.CHECKING}, "transformers serve"),
    ("pleasant defaults and a few streams", rtx, {"goal": Goal.SIMPLICITY, "users": 2}, "Ollama"),
    ("pleasant defaults until many come", rtx, {"goal": Goal.SIMPLICITY, "users": 16}, "vLLM"),
    ("many adapters over one base", rtx, {"needs": frozenset({Need.ADAPTERS})}, "vLLM"),
    ("a fleet", node, {"purpose": Purpose.FLEET}, "NVIDIA Dynamo"),
    ("a model that cards hold in part", rtx, {"room": Room.PARTLY}, "llama.cpp"),
    ("portability", rtx, {"goal": Goal.PORTABILITY}, "llama.cpp"),
    ("many users on Windows", lambda: with_cards("RTX 4090", system="Windows 11"), SERVING, "LMDeploy"),
    ("many users without a card", laptop, SERVING, "llama.cpp"),
    ("samplers for one, without a card", laptop, {"needs": frozenset({Need.SAMPLERS})}, "llama.cpp"),
    ("a fleet, told from a laptop", laptop, {"purpose": Purpose.FLEET}, "NVIDIA Dynamo"),
    ("a fleet, told from a Mac", mac, {"purpose": Purpose.FLEET}, "NVIDIA Dynamo"),
    (
        "a fleet, told from Windows",
        lambda: on_processor(system="Windows 11"),
        {"purpose": Purpose.FLEET},
        "NVIDIA Dynamo",
    ),
]


@pytest.mark.parametrize(
    ("made", "changes", "first", "also"), [row[1:] for row in HARDWARE], ids=[row[0] for row in HARDWARE]
)
def test_hardware(made, changes, first, also):
    advice = advised(made(), **changes)
    assert advice.engine.what.values["engine"].removesuffix(" GenAI") == first.removesuffix(" GenAI")
    named = {title for title in titled(advice.also)}
    assert also <= named | {title.removesuffix(" GenAI") for title in named}


@pytest.mark.parametrize(("made", "changes", "first"), [row[1:] for row in LOADS], ids=[row[0] for row in LOADS])
def test_load(made, changes, first):
    assert advised(made(), **changes).engine.what.values["engine"] == first


@pytest.mark.parametrize(
    ("link", "code"),
    [(Link.NVLINK, "split_tensor"), (Link.PCIE, "split_layers"), (Link.UNKNOWN, "split_layers")],
)
def test_without_nvlink_layers_in_turn_before_tensor_parallel(link, code):
    settings = {point.topic.value: point for point in advised(node(), link=link, **SERVING).settings}
    assert settings["split"].what.code == code
    assert settings["split"].what.values["cards"] == 8


@pytest.mark.parametrize("kind", Hardware)
def test_a_machine_that_is_only_named_is_advised_without_figures(kind):
    advice = advised(laptop(), hardware=kind)
    assert advice.engine is not None
    here = kind is Hardware.PROCESSOR
    assert (advice.hardware.what.values["bytes"] is not None) is here
    assert ("only_kind_known" in [reason.code for reason in advice.hardware.against]) is not here
    assert advice.hardware.what.values["cards"] in (1, None)  # never a count that nobody knows
    assert here or advice.hardware.what.values["device"] in (None, "Intel Xeon")  # so another sentence is said
