"""What a model is for, by the architecture that its header names.

A name in none of the lists is of a kind we do not know: it is shown as such and never refused for it. The list of text
architectures is llama.cpp's.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from weighbridge.formats.gguf import Value


class Kind(StrEnum):
    """What a model is for."""

    CHAT = "chat"
    EMBEDDING = "embedding"
    RERANK = "rerank"
    PROJECTION = "projection"
    IMATRIX = "imatrix"
    ADAPTER = "adapter"
    DRAFT = "draft"
    VOCABULARY = "vocabulary"
    IMAGE = "image"
    AUDIO = "audio"
    UNKNOWN = "unknown"


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


TEXT = _names("""
    afmoe apertus arcee arctic arwkv7 baichuan bailingmoe bailingmoe2 bailingmoe3 bitnet bloom chameleon chatglm
    codeshell cogvlm cohere2 cohere2moe command-r dbrx deci deepseek deepseek2 deepseek2-ocr deepseek32 deepseek4
    dots1 dots3note dream ernie4_5 ernie4_5-moe exaone exaone-moe exaone4 falcon falcon-h1 gemma gemma2 gemma3 gemma3n
    gemma4 glm-dsa glm4 glm4moe glm5-next gpt-oss gpt2 gptj gptneox granite granite_swa granitehybrid granitemoe
    graniteswitch grok grovemoe hrm_text hunyuan-dense hunyuan-moe hunyuan_vl hy_v3 hy_v4 internlm2 jais jais2 jamba
    k2-horizon kimi-k3 kimi-linear laguna lfm2 lfm2moe llada llada-moe llama llama4 maincoder mamba mamba2 maple
    mellum mimo2 minicpm minicpm3 minimax-01 minimax-m2 minimax-m3 mistral3 mistral4 mpt muse-glimmer nanbeige
    nemotron nemotron_h nemotron_h_moe olmo olmo2 olmoe openelm orion paddleocr pangu-embedded phi2 phi3 phimoe plamo
    plamo2 plamo3 plm qwen qwen2 qwen2moe qwen2vl qwen3 qwen35 qwen35moe qwen3moe qwen3next qwen3vl qwen3vlmoe
    qwen4exp refact rnd1 rwkv6 rwkv6qwen2 rwkv7 seed_oss smallthinker smollm3 spark2_5 stablelm starcoder starcoder2
    step35 t5 talkie xverse
""")

ENCODERS = _names("""
    bert eurobert jina-bert-v2 jina-bert-v3 modern-bert neo-bert nomic-bert nomic-bert-moe t5encoder
""")
"""Models that read a text at once and keep no cache."""

_EMBEDDING = ENCODERS | {"gemma-embedding", "gemma-embedding2", "llama-embed"}
_IMAGE = _names("""
    aura chroma cosmos flux flux2 hidream hyvid ltxv lumina2 pig qwen_image sd1 sd3 sdxl wan z_image
""")
_AUDIO = {"pockettts", "qwen3tts", "wav2vec", "wavtokenizer-dec", "whisper"}
_DRAFTS = {"dflash", "eagle3", "gemma4-assistant"}
_SCORERS = {"clef"}
"""Models that give a score to each of some options."""
_BY_TYPE = {
    "adapter": Kind.ADAPTER,
    "imatrix": Kind.IMATRIX,
    "mmproj": Kind.PROJECTION,
    "vocab": Kind.VOCABULARY,
}
_RANK_POOLING = 4


def kind_of(metadata: Mapping[str, Value]) -> Kind:
    """What the model with this header is for."""
    by_type = _BY_TYPE.get(str(metadata.get("general.type", "")))
    if by_type is not None:
        return by_type
    architecture = metadata.get("general.architecture")
    pooling = metadata.get(f"{architecture}.pooling_type")
    if pooling == _RANK_POOLING or architecture in _SCORERS:
        return Kind.RERANK
    if architecture in _EMBEDDING or (isinstance(pooling, int) and pooling > 0):
        return Kind.EMBEDDING
    return _kind_of_architecture(architecture)


def _kind_of_architecture(architecture: Value | None) -> Kind:
    if architecture == "clip":
        return Kind.PROJECTION
    if architecture in _IMAGE:
        return Kind.IMAGE
    if architecture in _AUDIO:
        return Kind.AUDIO
    if architecture in _DRAFTS:
        return Kind.DRAFT
    return Kind.CHAT if architecture in TEXT else Kind.UNKNOWN
