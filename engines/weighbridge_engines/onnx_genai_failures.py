"""Why a load by ONNX Runtime GenAI failed, by its own words. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from weighbridge_engines.api import HOST, Cause
from weighbridge_engines.failure_words import cause_in, failure

_OTHER_BUILD = "onnx_genai.other_build"

FAILURES = (
    failure("engine.not_installed", r"No module named '(?P<package>onnxruntime_genai|onnxruntime|jinja2)'"),
    failure(_OTHER_BUILD, r"Cuda interface not available", provider="cuda", package="onnxruntime-genai-cuda"),
    failure(_OTHER_BUILD, r"not been built with DML", provider="directml", package="onnxruntime-genai-directml"),
    failure("onnx_genai.provider", r"(?P<provider>\w+) (?:execution )?provider is not supported in this build"),
    failure("onnx_genai.provider", r"Unknown provider (?:name|type)[: ]+'?(?P<provider>\w+)"),
    failure("engine.unknown_architecture", r"Unsupported model_type in config\.json: (?P<architecture>\S+)"),
    failure("onnx_genai.no_tokenizer", r"Invalid file: \S*tokenizer\S*"
            r"|Failed to open a json file: [^\n]*tokenizer[^\n]*"),
    failure("engine.out_of_memory", r"(?:CUDA failure 2: out of memory|CUBLAS_STATUS_ALLOC_FAILED)", device="CUDA"),
    failure("engine.out_of_memory", r"Failed to allocate memory for requested buffer of size (?P<needed_bytes>\d+)",
            device=HOST),
    failure("engine.out_of_memory", r"std::bad_alloc|MemoryError|Cannot allocate memory", device=HOST),
    failure("engine.no_model_file", r"failed\. ?File doesn't exist|Error opening \S+"),
    failure("engine.bad_settings", r"(?P<reason>model context_length is 0 or was not set)"),
    failure("engine.bad_model_file", r"Protobuf parsing failed|No graph was found in the protobuf|JSON Error: "
            r"|json\.exception\.parse_error|External data path|OptimizerExecutionFrame::Info|Invalid fd was supplied"
            r"|out of bounds|External initializer|TensorProto external data"),
    failure("engine.missing_library", r"(?P<library>lib[\w.+-]+): cannot open shared object file"),
)  # fmt: skip
"""In the order in which they are tried: what names most of a cause before what names less."""


def diagnose(log: Sequence[str], exit_code: int | None) -> Cause | None:
    """The cause of an end; None where the log tells none."""
    del exit_code
    return cause_in(log, FAILURES)
