"""What an engine takes beside the model: its process, the driver and scratch space. Pure.

The weakest figures of all: drivers differ, and only some of these were measured. Each says where it comes from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from weighbridge.estimates.cache import layer_cells
from weighbridge.estimates.estimate import Place, PlaceKind
from weighbridge.estimates.plan import Plan
from weighbridge.estimates.shape import Layer

MIB = 1 << 20

PROCESS_BYTES: Mapping[str, int] = {
    "llama_server": 48 * MIB,
    "llama_cpp": 72 * MIB,
    "mlx": 150 * MIB,
    "exllamav2": 1024 * MIB,
    "exllamav3": 1024 * MIB,
    "onnx_genai": 85 * MIB,
    "openvino": 127 * MIB,
    "transformers": 415 * MIB,
    "vllm": 2200 * MIB,
    **dict.fromkeys(("sglang", "lmdeploy", "aphrodite", "tabbyapi"), 1024 * MIB),
}
"""An engine's own process: code, its server, and the model's list of tokens but where `vocabulary_bytes` counts it.

llama.cpp's server (the CPU wheel on Linux): resident memory just after a load and after answers, less all that it said
it allocated: 41 MiB without a list of tokens, 27 of them code, and up to 7 more for the graph of 64 layers, whatever
the context. MLX: 72 MiB measured with nothing loaded, the rest is for a tokenizer. llama-cpp-python: 60 and 70
MiB measured as llama.cpp's server was, with Python, numpy and the process that renders templates, which takes 21. The
ExLlama libraries: an estimate of what PyTorch with CUDA takes. ONNX Runtime GenAI and OpenVINO GenAI: measured, 64 and
106 MiB and that process; what they keep for layers and tokens is counted in `shares_runtime`. `transformers serve`: 449
and 456 MiB measured with SmolLM2, less its list of tokens, which is counted in `shares_programs`. vLLM: 2,267 MiB
measured in the four processes of 0.32 on a processor. The other server programs over PyTorch: the same estimate as for
the ExLlama libraries.
"""
OTHER_PROCESS_BYTES = 150 * MIB
"""An engine that is not known here."""

TOKEN_BYTES, MERGED_TOKEN_BYTES = 230, 510
"""What llama.cpp's server keeps for each token, alone and with the merges that make it.

Measured with lists of 32,000 to 262,144 tokens: 221 bytes for one, 180 for a merge, of which there are 1.0 to 2.2 for
each token. SmolLM2: 68 MiB in all were held, and 72 are counted; for lists as long as those of Qwen3 102 and 122, of
Llama 3 116 and 110, of Gemma 3 97 and 105.
"""
_WITHOUT_MERGES = frozenset({"llama", "bert", "t5", "rwkv", "plamo2"})
"""Kinds of tokenizers, by the names that headers give them."""

UNKNOWN_VOCABULARY_BYTES = 102 * MIB
"""Where the list of tokens has not been read: as for a large one."""

DRIVER_BYTES: Mapping[str, int] = {
    "cuda": 330 * MIB,
    "rocm": 330 * MIB,
    "vulkan": 150 * MIB,
    "sycl": 150 * MIB,
    "metal": 128 * MIB,
}
"""What a process takes on a card before it puts anything there: the driver's context and its libraries.

CUDA: 320 to 330 MiB, as others measured with cuBLAS; the context alone is 107 MiB on an RTX 4060 Ti and 555 MiB on an
RTX PRO 6000, as it grows with the number of processors. ROCm like CUDA. Vulkan and SYCL (100 to 200 MiB) and Metal (of
which Ollama reserves 512 MiB, scratch space included) are estimates.
"""

SLACK_BYTES, SLACK_SHARE = 150 * MIB, 0.02
"""The pool from which CUDA and ROCm kernels take scratch space, in bytes and as a share of the weights: an estimate."""

_POOLED = frozenset({"cuda", "rocm"})
_LLAMA_CPP = frozenset({"llama_server", "llama_cpp"})
_F16 = "f16"
_F16_BYTES = 2


def overhead_bytes(engine: str, place: Place, weights_bytes: int = 0) -> int:
    """What `engine` takes in `place`, where it put `weights_bytes`, from its start on: its process, or the driver.

    A place that an engine does not use costs nothing: it is not asked for here.
    """
    if place.kind is PlaceKind.HOST:
        return process_bytes(engine)
    if place.kind is PlaceKind.UNIFIED:
        return process_bytes(engine) + DRIVER_BYTES.get(place.api, DRIVER_BYTES["metal"])
    slack = SLACK_BYTES + round(weights_bytes * slack_share(place)) if place.api in _POOLED else 0
    return DRIVER_BYTES.get(place.api, DRIVER_BYTES["cuda"]) + slack


def slack_share(place: Place) -> float:
    """What a card takes beside each byte of weights that lies there, as a share of it."""
    return SLACK_SHARE if place.api in _POOLED else 0.0


def process_bytes(engine: str) -> int:
    """What the process of `engine` takes in host memory, whatever the model: see `vocabulary_bytes` for the rest."""
    return PROCESS_BYTES.get(engine, OTHER_PROCESS_BYTES)


def vocabulary_bytes(engine: str, tokens: int, tokenizer: str | None) -> int:
    """What the process of `engine` keeps of a list of `tokens`, 0 where that is not known, for a kind of `tokenizer`.

    Nothing for an engine whose process is counted with it.
    """
    if engine not in _LLAMA_CPP:
        return 0
    each = TOKEN_BYTES if tokenizer in _WITHOUT_MERGES else MERGED_TOKEN_BYTES
    return tokens * each if tokens else UNKNOWN_VOCABULARY_BYTES


def dequantised_bytes(layers: Iterable[Layer], plan: Plan, api: str) -> int:
    """Space for one layer's cache in 16 bits, into which CUDA and ROCm turn another type to attend to a prompt.

    The layers are those on one card; the widest counts. It is part of the compute buffer of newer builds of llama.cpp,
    of the pool in older ones. Source: `ggml_cuda_flash_attn_ext_get_alloc_size`.
    """
    if api not in _POOLED or not plan.flash_attention:
        return 0
    return max((_dequantised(layer, plan) for layer in layers), default=0)


def _dequantised(layer: Layer, plan: Plan) -> int:
    width = layer.key_width if plan.key_type != _F16 else 0
    width += layer.value_width if plan.value_type != _F16 else 0
    return layer_cells(layer, plan) * plan.streams * width * _F16_BYTES
