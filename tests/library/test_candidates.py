import pytest
from tests.formats.made_gguf import gguf

from weighbridge.base.task import Task
from weighbridge.formats.variant import Role
from weighbridge.library.candidates import candidates, helpers_in
from weighbridge.library.scan import scan


def model(width, architecture="qwen2vl", **told):
    keys = {
        "general.architecture": architecture,
        "general.type": "model",
        f"{architecture}.block_count": 2,
        f"{architecture}.embedding_length": width,
        f"{architecture}.vocab_size": 1000,
    }
    return gguf(keys | told)


def projector(width):
    return gguf({"general.architecture": "clip", "general.type": "mmproj", "clip.vision.projection_dim": width})


def adapter(architecture):
    return gguf({"general.architecture": architecture, "general.type": "adapter", "adapter.type": "lora"})


@pytest.fixture
def models(tmp_path):
    files = {
        "a/Seer-8B-Q4_0.gguf": model(4096) + bytes(3000),
        "a/mmproj-Seer-8B-F16.gguf": projector(4096),
        "a/mmproj-Seer-8B-old-F16.gguf": projector(3584),
        "b/Other-3B-Q4_0.gguf": model(2048) + bytes(500),
        "b/mmproj-Other-3B-F16.gguf": projector(2048),
        "c/Far-4B-Q4_0.gguf": model(2560, "llama", **{"llama.vocab_size": 32_000}) + bytes(1500),
        "d/style-lora-f16.gguf": adapter("qwen2vl"),
        "d/manner-lora-f16.gguf": adapter("llama"),
    }
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    return {model.title: model for model in scan([tmp_path], Task())}


def told(models, role, name="Seer-8B-Q4_0"):
    mine = models[name]
    found = candidates(mine, role, models.values(), helpers_in(mine.path.parent))
    return [(one.title, one.pairing.suits, one.own) for one in found]


def test_a_projector_of_another_width_is_told_and_is_no_companion(models):
    names = [helper.path.name for helper in models["Seer-8B-Q4_0"].companions]
    assert names == ["mmproj-Seer-8B-F16.gguf"]
    assert told(models, Role.PROJECTOR) == [
        ("mmproj-Seer-8B-F16", True, True),
        ("mmproj-Other-3B-F16", False, False),
        ("mmproj-Seer-8B-old-F16", False, False),
    ]


def test_smaller_models_of_the_same_tokens_can_draft(models):
    assert told(models, Role.DRAFT) == [("Other-3B-Q4_0", True, False), ("Far-4B-Q4_0", False, False)]
    assert told(models, Role.DRAFT, "Other-3B-Q4_0") == []


def test_adapters_are_told_wherever_they_lie(models):
    assert told(models, Role.ADAPTER) == [("style-lora-f16", None, False), ("manner-lora-f16", False, False)]


def test_a_folder_that_is_gone_holds_nothing(tmp_path):
    assert helpers_in(tmp_path / "gone") == []
