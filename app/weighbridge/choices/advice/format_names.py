"""What formats are called."""

from __future__ import annotations

from collections.abc import Mapping

_NAMES: Mapping[str, str] = {
    "gguf": "GGUF",
    "exl2": "EXL2",
    "exl3": "EXL3",
    "mlx": "MLX",
    "mlc": "MLC",
    "onnx": "ONNX",
    "openvino": "OpenVINO IR",
    "awq": "AWQ",
    "gptq": "GPTQ",
    "fp8": "FP8",
    "nvfp4": "NVFP4",
    "mxfp4": "MXFP4",
}


def format_name(format_id: str) -> str:
    """ "GGUF", "OpenVINO IR"; a format without a name of its own as it is."""
    return _NAMES.get(format_id, format_id)
