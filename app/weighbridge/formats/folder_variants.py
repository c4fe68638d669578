"""The model that a folder of safetensors is: its format, by its config first, its tensors second, names last."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from weighbridge.base.errors import BadFile, WeighbridgeError
from weighbridge.formats.architectures import Kind
from weighbridge.formats.config_counts import reckoned
from weighbridge.formats.exl_names import exl_label, exl_of_names
from weighbridge.formats.exl_storage import STORAGE, storage_tensors
from weighbridge.formats.gguf_tensors import Tensor
from weighbridge.formats.kinds import kind_of_config, kind_of_hub
from weighbridge.formats.packed import Packing, held
from weighbridge.formats.place import CONFIG, Folder
from weighbridge.formats.quantisation import Quantisation, plain, quantisation
from weighbridge.formats.safetensors import SafetensorsHeader
from weighbridge.formats.shards import ENDING, INDEX, missing_shards, weights_of
from weighbridge.formats.variant import File, Variant

BESIDE = ("quantize_config.json", "quant_config.json", "hf_quant_config.json", STORAGE)
"""Where converters tell of a quantisation that config.json is silent about, in the order of trust."""

_ADAPTER = "adapter_config.json"
_MLX_OWNERS = ("mlx-community/",)
_BY_TENSOR = {".trellis": "exl3", ".q_weight": "exl2"}
UNQUANTISED_BITS = 12.0
"""More bits for each weight than any of the quantised formats takes."""


@dataclass(frozen=True)
class _Found:
    quantisation: Quantisation
    guessed: bool = False


def folder_variant(folder: Folder) -> Variant | None:
    """The model in `folder`, or None where there is none of this kind."""
    weights = weights_of(folder)
    adapters = [file for file in folder.ending(ENDING) if file not in weights]
    if not weights and adapters and _ADAPTER in folder.names:
        return Variant("safetensors", folder.path, files=tuple(adapters), kind=Kind.ADAPTER)
    if not weights and not (CONFIG in folder.names and folder.ending(INDEX)):
        return None
    try:
        config, problem = folder.json(CONFIG), missing_shards(folder, weights)
        found = _quantisation(folder, config or {}, weights)
    except BadFile as error:
        config, problem, found = {}, error, _Found(Quantisation("safetensors"))
    if config is None:
        problem = BadFile("model.no_config", name=CONFIG)
    return _variant(folder, config or {}, weights, found, problem)


def asks_to_run_code(config: Mapping[str, Any], tags: Iterable[str]) -> bool:
    """Whether the model wants Python files of its repository to be run."""
    inner = config.get("text_config")
    nested = inner if isinstance(inner, Mapping) else {}
    return bool(config.get("auto_map") or nested.get("auto_map") or config.get("model_file")) or "custom_code" in tags


def config_kind(folder: Folder, config: Mapping[str, Any]) -> Kind:
    """What the model is for: by its config, else by what the Hub says of the repository."""
    kind = kind_of_config(config, folder.names)
    return kind if kind is not Kind.UNKNOWN else kind_of_hub(folder.hints.pipeline, folder.hints.tags)


def _variant(
    folder: Folder, config: Mapping[str, Any], weights: list[File], found: _Found, problem: WeighbridgeError | None
) -> Variant:
    return Variant(
        found.quantisation.format,
        folder.path,
        label=found.quantisation.label,
        files=tuple(weights),
        kind=config_kind(folder, config),
        guessed=found.guessed,
        bits_per_weight=found.quantisation.bits_per_weight if problem else _bits(folder, config, weights, found),
        asks_to_run_code=asks_to_run_code(config, folder.hints.tags),
        problem=problem,
    )


def _bits(folder: Folder, config: Mapping[str, Any], weights: list[File], found: _Found) -> float | None:
    """By size and parameters, else by EXL3's own table of tensors, else what the config tells."""
    parameters, size = reckoned(config).parameters, _size(weights)
    if parameters and size:
        return size * 8 / parameters
    if found.quantisation.format == "exl3":
        tensors = _stored(folder)
        parameters = held(tensors, Packing(), None, None).parameters
        if parameters:
            return sum(tensor.size_bytes or 0 for tensor in tensors) * 8 / parameters
    return found.quantisation.bits_per_weight


def _stored(folder: Folder) -> tuple[Tensor, ...]:
    try:
        return storage_tensors(folder.json(STORAGE) or {})
    except BadFile:
        return ()


def _size(weights: list[File]) -> int | None:
    sizes = [file.size_bytes for file in weights]
    return None if None in sizes else sum(size or 0 for size in sizes)


def _quantisation(folder: Folder, config: Mapping[str, Any], weights: list[File]) -> _Found:
    told = quantisation(config, ())
    for name in BESIDE if told is None else ():
        told = told or quantisation({}, [folder.json(name) or {}])
    if told is not None:
        return _Found(told)
    header = folder.reader.tensors(weights[0].path) if weights else None
    exl = _exl(folder, config, weights, header)
    return exl or _mlx(folder, config, header) or _Found(plain(config))


def _exl(
    folder: Folder, config: Mapping[str, Any], weights: list[File], header: SafetensorsHeader | None
) -> _Found | None:
    """EXL without a word in the config: the oldest files of EXL2 are so. Bits are then told by names alone."""
    named = exl_of_names(folder.titles())
    by_tensors = _method_of(header) if header else None
    by_files = "exl2" if weights and weights[0].name.startswith("output") else None
    method = by_tensors or (None if header else by_files or named.method)
    if method is None or (by_tensors is None and by_files is None and _is_unquantised(config, weights)):
        return None
    label = exl_label(named.bits, named.head_bits) if named.bits else None
    return _Found(Quantisation(method, label, named.bits), guessed=by_tensors is None or label is not None)


def _method_of(header: SafetensorsHeader) -> str | None:
    endings = (tensor.name[tensor.name.rfind(".") :] for tensor in header.tensors)
    return next((_BY_TENSOR[ending] for ending in endings if ending in _BY_TENSOR), None)


def _is_unquantised(config: Mapping[str, Any], weights: list[File]) -> bool:
    parameters, size = reckoned(config).parameters, _size(weights)
    return bool(parameters and size and size * 8 / parameters > UNQUANTISED_BITS)


def _mlx(folder: Folder, config: Mapping[str, Any], header: SafetensorsHeader | None) -> _Found | None:
    """MLX that is not quantised: by what its converter writes into the files, by its tag, else by its owner's name."""
    by_owner = folder.hints.repository.startswith(_MLX_OWNERS)
    told = "mlx" in folder.hints.tags or (header is not None and header.metadata.get("format") == "mlx")
    if not told and not by_owner:
        return None
    own = plain(config)
    return _Found(Quantisation("mlx", own.label, own.bits_per_weight), guessed=not told)
