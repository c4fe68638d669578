"""Models in formats that are recognised by their files: OpenVINO, ONNX, Diffusers; and pickles, which are refused."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from weighbridge.base.errors import BadFile
from weighbridge.formats.architectures import Kind
from weighbridge.formats.folder_variants import asks_to_run_code, config_kind
from weighbridge.formats.genai_config import GENAI
from weighbridge.formats.place import CONFIG, Folder, is_below
from weighbridge.formats.quantisation import whole
from weighbridge.formats.variant import File, Variant

PIPELINE = "model_index.json"
_OPENVINO = "openvino_config.json"
_PICKLES = (".bin", ".ckpt", ".pickle", ".pkl", ".pt", ".pth")
_NO_WEIGHTS = frozenset({"optimizer.bin", "optimizer.pt", "scheduler.bin", "scheduler.pt", "training_args.bin"})
_PRECISION = re.compile(r"(?:^|[-_.])(fp16|fp32|bf16|q4f16|q4|q8|int4|int8|uint8|bnb4|nf4|quantized)(?=$|[-_.])")
_AUDIO = re.compile(r"audio|music|speech", re.IGNORECASE)
_HALF = re.compile(r"\.(?:fp16|bf16|non_ema)(?=\.)")


def diffusers_variant(top: Folder, folders: Iterable[Folder]) -> Variant:
    """A pipeline of several models for pictures or sound, in the folders below `top`."""
    try:
        index: Mapping[str, Any] = top.json(PIPELINE) or {}
        problem = None
    except BadFile as error:
        index, problem = {}, error
    below = [folder for folder in folders if is_below(folder.path, top.path)]
    weights = [file for folder in below for file in folder.ending(".safetensors")]
    weights = weights or [file for folder in below for file in folder.ending(".bin")]
    plain = {file.path for file in weights}
    files = tuple(file for file in weights if not _HALF.search(file.name) or _HALF.sub("", file.path) not in plain)
    kind = Kind.AUDIO if _AUDIO.search(str(index.get("_class_name"))) else Kind.IMAGE
    return Variant("diffusers", top.path, files=files, kind=kind, problem=problem)


def openvino_variant(folder: Folder) -> Variant | None:
    """A model as OpenVINO's intermediate form: graphs (.xml) beside their weights (.bin)."""
    graphs = folder.ending(".xml")
    models = [file for file in graphs if "tokenizer" not in file.name]
    pairs = {file.name for file in models if f"{file.stem}.bin" in folder.names}
    if not pairs:
        return None
    stems = {file.stem for file in graphs}
    files = tuple(file for file in folder.ending(".xml", ".bin") if file.stem in stems)
    config, problem = _config(folder)
    absent = [f"{file.stem}.bin" for file in models if file.name not in pairs]
    if absent:
        count = len(models)
        problem = BadFile("model.part_missing", missing=", ".join(absent[:3]), here=count - len(absent), count=count)
    label, guessed = _openvino_label(folder)
    return Variant(
        "openvino",
        folder.path,
        label=label,
        guessed=guessed,
        files=files,
        kind=config_kind(folder, config),
        asks_to_run_code=asks_to_run_code(config, folder.hints.tags),
        problem=problem,
    )


def onnx_variants(folder: Folder) -> list[Variant]:
    """ONNX models: one for a folder of onnxruntime-genai, else one for each precision that the names tell."""
    graphs = folder.ending(".onnx")
    config, problem = _config(folder)
    kind = config_kind(folder, config)
    if graphs and GENAI in folder.names:
        files = tuple(file for file in folder.files if ".onnx" in file.name.lower())
        label = _precision(folder.titles())
        kind = Kind.CHAT if kind is Kind.UNKNOWN else kind
        return [Variant("onnx", folder.path, label, files, kind, guessed=label is not None, problem=problem)]
    groups: dict[str | None, list[File]] = {}
    for graph in graphs:
        groups.setdefault(_precision([graph.stem]), []).append(graph)
    return [
        Variant("onnx", folder.path, label, tuple(_with_data(folder, group)), kind, guessed=label is not None)
        for label, group in groups.items()
    ]


def pickle_variant(folders: Sequence[Folder]) -> Variant | None:
    """Weights whose format can hold a program, so that loading them runs it: refused."""
    files = [file for folder in folders for file in folder.ending(*_PICKLES) if file.name not in _NO_WEIGHTS]
    if not files:
        return None
    return Variant("pickle", files[0].folder, files=tuple(files), problem=BadFile("model.pickle", name=files[0].name))


def _config(folder: Folder) -> tuple[Mapping[str, Any], BadFile | None]:
    try:
        return folder.json(CONFIG) or {}, None
    except BadFile as error:
        return {}, error


def _openvino_label(folder: Folder) -> tuple[str | None, bool]:
    """By the exporter's own file, else by names; the second is whether it is guessed."""
    try:
        told = (folder.json(_OPENVINO) or {}).get("quantization_config")
    except BadFile:
        told = None
    bits = whole(told.get("bits"), 64) if isinstance(told, Mapping) else None
    if bits:
        return f"{bits}bit", False
    label = _precision(folder.titles())
    return label, label is not None


def _precision(names: Iterable[str]) -> str | None:
    found = (_PRECISION.search(name.lower()) for name in names)
    return next((each[1] for each in found if each is not None), None)


def _with_data(folder: Folder, graphs: Sequence[File]) -> list[File]:
    """Graphs, and the files beside them that hold their weights (model.onnx_data, model.onnx.data)."""
    names = tuple(graph.name for graph in graphs)
    return [file for file in folder.files if file.name.startswith(names)]
