"""What a model is for, by its config, the files beside it, and what the Hub says of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from weighbridge.formats.architectures import Kind

_BY_PIPELINE: Mapping[str, Kind] = {
    "any-to-any": Kind.CHAT,
    "audio-text-to-text": Kind.CHAT,
    "audio-to-audio": Kind.AUDIO,
    "automatic-speech-recognition": Kind.AUDIO,
    "depth-estimation": Kind.IMAGE,
    "feature-extraction": Kind.EMBEDDING,
    "fill-mask": Kind.EMBEDDING,
    "image-classification": Kind.IMAGE,
    "image-feature-extraction": Kind.IMAGE,
    "image-segmentation": Kind.IMAGE,
    "image-text-to-text": Kind.CHAT,
    "image-to-image": Kind.IMAGE,
    "image-to-video": Kind.IMAGE,
    "object-detection": Kind.IMAGE,
    "sentence-similarity": Kind.EMBEDDING,
    "text-generation": Kind.CHAT,
    "text-ranking": Kind.RERANK,
    "text-to-audio": Kind.AUDIO,
    "text-to-image": Kind.IMAGE,
    "text-to-speech": Kind.AUDIO,
    "text-to-video": Kind.IMAGE,
    "text2text-generation": Kind.CHAT,
    "video-text-to-text": Kind.CHAT,
}

_SPEECH = (
    "bark",
    "clap",
    "csm",
    "dac",
    "encodec",
    "hubert",
    "kokoro",
    "mimi",
    "moonshine",
    "musicgen",
    "parler",
    "qwen3_tts",
    "seamless",
    "speech",
    "vits",
    "voxtral_tts",
    "wav2vec",
    "wavlm",
    "whisper",
)
"""How the types of models that hear or speak begin."""

_ENCODERS = frozenset({"camembert", "deberta-v2", "electra", "mpnet", "new", "roberta", "xlm-roberta"})
"""Types of models that read a text at once, beside all those with "bert" in their name."""

_BY_ENDING = (
    ("ForSpeechSeq2Seq", Kind.AUDIO),
    ("ForCTC", Kind.AUDIO),
    ("ForTextToSpeech", Kind.AUDIO),
    ("ForAudioClassification", Kind.AUDIO),
    ("ForSequenceClassification", Kind.RERANK),
    ("ForMaskedLM", Kind.EMBEDDING),
    ("ForImageClassification", Kind.IMAGE),
    ("ForObjectDetection", Kind.IMAGE),
    ("ForSemanticSegmentation", Kind.IMAGE),
    ("Transformer2DModel", Kind.IMAGE),
    ("UNet2DConditionModel", Kind.IMAGE),
    ("ForCausalLM", Kind.CHAT),
    ("ForConditionalGeneration", Kind.CHAT),
    ("LMHeadModel", Kind.CHAT),
    ("CLIPModel", Kind.EMBEDDING),
    ("SiglipModel", Kind.EMBEDDING),
)
_OF_SENTENCES = frozenset({"modules.json", "config_sentence_transformers.json"})
"""Files that sentence-transformers writes beside a model that makes vectors of texts."""


def kind_of_hub(pipeline: str, tags: Iterable[str]) -> Kind:
    """By the Hub's pipeline tag, else by the tags."""
    return next((_BY_PIPELINE[each] for each in (pipeline, *sorted(tags)) if each in _BY_PIPELINE), Kind.UNKNOWN)


def kind_of_config(config: Mapping[str, Any], beside: Iterable[str]) -> Kind:
    """By the names of the files `beside` the config, its model's type and its classes."""
    if _OF_SENTENCES & set(beside):
        return Kind.EMBEDDING
    model_type = str(config.get("model_type"))
    if model_type.startswith(_SPEECH):
        return Kind.AUDIO
    classes = config.get("architectures")
    for name in classes if isinstance(classes, list) else ():
        for ending, kind in _BY_ENDING:
            if isinstance(name, str) and name.endswith(ending):
                return kind
    return Kind.EMBEDDING if "bert" in model_type or model_type in _ENCODERS else Kind.UNKNOWN
