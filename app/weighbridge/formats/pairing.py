"""Whether a projector, a draft or an adapter is for a model, by what both headers say of their dimensions. Pure.

The rules are llama.cpp's own: `mtmd.cpp` compares the projector's output with the model's embedding, `speculative.cpp`
the vocabularies, `llama-adapter.cpp` the architecture and the shapes. What a header does not say is unknown, and
decides nothing: a brief read knows no vocabulary but that of some architectures.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from weighbridge.formats.architectures import Kind
from weighbridge.formats.keys import Keys, count_of
from weighbridge.formats.model import ModelInfo
from weighbridge.formats.variant import Role

VOCABULARY_SLACK = 128
"""Tokens by which the vocabularies of model and draft may differ: SPEC_VOCAB_MAX_SIZE_DIFFERENCE."""

_PROJECTED = ("clip.vision.projection_dim", "clip.audio.projection_dim")
_OLD_PROJECTOR = "clip.has_text_encoder"
"""Written by converters of old, whose `projection_dim` is another dimension: that of CLIP's own last layer."""
_EMBEDDING = "token_embd.weight"
_MARKOV = "markov_w1.weight"
_LORA = re.compile(r"blk\.(\d+)\.attn_[qkv]\.weight\.lora_a")
_SEPARATORS = re.compile(r"[-_. ]+")


class Compared(StrEnum):
    """What is compared."""

    EMBEDDING = "embedding"
    ARCHITECTURE = "architecture"
    LAYERS = "layers"
    TOKENIZER = "tokenizer"
    VOCABULARY = "vocabulary"
    ENDS = "ends"
    SIZE = "size"
    BASE = "base"


@dataclass(frozen=True)
class Pairing:
    """`suits`: whether a file is for a model; None where the headers do not tell. `by` is what decided, `own` what the
    file says of it, and `wanted` what the model does.
    """

    suits: bool | None
    by: Compared | None = None
    own: int | str = ""
    wanted: int | str = ""


UNTOLD = Pairing(None)
_Answer = Pairing | None


def pairing(role: Role, file: ModelInfo, model: ModelInfo) -> Pairing:
    """Whether `file` can do for `model` what its role says. What speaks against it comes before what speaks for it."""
    told = [answer for answer in _ANSWERS.get(role, _nothing)(file, model) if answer is not None]
    against = [answer for answer in told if answer.suits is False]
    return next(iter((*against, *told)), UNTOLD)


def vocabulary_of(info: ModelInfo) -> int | None:
    """How many tokens a model has."""
    table = next((tensor.shape for tensor in info.tensors or () if tensor.name == _EMBEDDING), ())
    return table[1] if len(table) == 2 else Keys(info.metadata).count("vocab_size") or None


def draft_kind_of(info: ModelInfo) -> str:
    """How a draft works, as llama.cpp tells it from its header: of DRAFT_KINDS of the engines' contract."""
    if info.architecture == "dflash":
        return "dspark" if any(tensor.name == _MARKOV for tensor in info.tensors or ()) else "dflash"
    if info.architecture == "eagle3":
        return "eagle3"
    return "mtp" if Keys(info.metadata).count("nextn_predict_layers") else "simple"


def _nothing(file: ModelInfo, model: ModelInfo) -> Iterator[_Answer]:
    del file, model
    yield from ()


def _projector(file: ModelInfo, model: ModelInfo) -> Iterator[_Answer]:
    if _OLD_PROJECTOR not in file.metadata:
        for key in _PROJECTED:
            yield _same(Compared.EMBEDDING, count_of(file.metadata.get(key)) or None, model.embedding_length)


def _draft(file: ModelInfo, model: ModelInfo) -> Iterator[_Answer]:
    """A head that reads the model's own states has to have their size; any other draft writes the same tokens."""
    keys = Keys(file.metadata)
    target = keys.count("target_hidden_size")
    if target:
        yield _same(Compared.EMBEDDING, target, model.embedding_length)
    elif file.architecture == "dflash" or (file.kind is not Kind.DRAFT and keys.count("nextn_predict_layers")):
        if file.architecture != "dflash":
            yield _differs(Compared.ARCHITECTURE, file.architecture, model.architecture)
        yield _same(Compared.EMBEDDING, file.embedding_length, model.embedding_length)
    elif file.kind is not Kind.DRAFT:
        yield from _small_model(file, model)


def _small_model(file: ModelInfo, model: ModelInfo) -> Iterator[_Answer]:
    yield _differs(Compared.TOKENIZER, _text(file, "tokenizer.ggml.model"), _text(model, "tokenizer.ggml.model"))
    yield _vocabularies(vocabulary_of(file), vocabulary_of(model))
    for end in ("bos", "eos"):
        adds = [one.metadata.get(f"tokenizer.ggml.add_{end}_token") for one in (file, model)]
        if adds == [True, True]:
            key = f"tokenizer.ggml.{end}_token_id"
            yield _differs(Compared.ENDS, count_of(file.metadata.get(key)), count_of(model.metadata.get(key)))
        elif None not in adds:
            yield _differs(Compared.ENDS, *map(str, adds))
    if file.parameters is not None and model.parameters is not None and file.parameters >= model.parameters:
        yield Pairing(False, Compared.SIZE, file.parameters, model.parameters)


def _vocabularies(own: int | None, wanted: int | None) -> _Answer:
    if own is None or wanted is None:
        return None
    return Pairing(abs(own - wanted) <= VOCABULARY_SLACK, Compared.VOCABULARY, own, wanted)


def _adapter(file: ModelInfo, model: ModelInfo) -> Iterator[_Answer]:
    yield _differs(Compared.ARCHITECTURE, file.architecture, model.architecture)
    changed = {int(found[1]): tensor.shape[0] for tensor in file.tensors or () if (found := _LORA.match(tensor.name))}
    for own in sorted(set(changed.values())):
        yield _same(Compared.EMBEDDING, own, model.embedding_length)
    if changed and model.layers is not None and max(changed) >= model.layers:
        yield Pairing(False, Compared.LAYERS, max(changed) + 1, model.layers)
    base, names = _text(file, "general.base_model.0.name"), _names(model)
    if base is not None and _spelt(base) in map(_spelt, names):
        yield Pairing(True, Compared.BASE, base, base)


def _names(model: ModelInfo) -> list[str]:
    told = (model.name, _text(model, "general.base_model.0.name"), _text(model, "general.basename"))
    return [name for name in told if name]


def _spelt(name: str) -> str:
    return _SEPARATORS.sub("-", name).strip("-").casefold()


def _same(by: Compared, own: int | str | None, wanted: int | str | None) -> _Answer:
    return None if own is None or wanted is None else Pairing(own == wanted, by, own, wanted)


def _differs(by: Compared, own: int | str | None, wanted: int | str | None) -> _Answer:
    """What is told only where it speaks against: that it is the same is not enough."""
    found = _same(by, own, wanted)
    return None if found is None or found.suits else found


def _text(info: ModelInfo, key: str) -> str | None:
    value = info.metadata.get(key)
    return value if isinstance(value, str) and value else None


_ANSWERS: Mapping[Role, Callable[[ModelInfo, ModelInfo], Iterator[_Answer]]] = {
    Role.PROJECTOR: _projector,
    Role.DRAFT: _draft,
    Role.ADAPTER: _adapter,
}
