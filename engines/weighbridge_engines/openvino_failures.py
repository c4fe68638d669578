"""Why a load by OpenVINO GenAI failed, by its own words. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from weighbridge_engines.api import HOST, Cause
from weighbridge_engines.failure_words import cause_in, failure
from weighbridge_engines.openvino_device import CPU
from weighbridge_engines.openvino_settings import ARCHITECTURES, TYPES

_ARCHITECTURES, _TYPES = ", ".join(sorted(ARCHITECTURES)), ", ".join(sorted(TYPES))

FAILURES = (
    failure("engine.not_installed", r"No module named '(?P<package>openvino_genai|openvino|jinja2)'"),
    failure("openvino.no_card_runtime", r"(?P<library>libOpenCL\.so\.1|OpenCL\.dll)"),
    failure("engine.missing_library", r"(?P<library>lib[\w.+-]+): cannot open shared object file"),
    failure("engine.no_such_device", r'Device with "(?P<device>[^"]+)" name is not registered'),
    failure("engine.no_such_device", r"Device with name (?P<device>\S+) (?:doesn't|does not) exist"),
    failure("openvino.architecture", r"Unsupported model architecture '(?P<architecture>[^']*)'", known=_ARCHITECTURES),
    failure("openvino.tensor_types", r"gguf_tensor_to_f16 failed|[Uu]nsupported (?:tensor|quantization) type",
            known=_TYPES),
    failure("openvino.cache_precision", r"expect kvcache type (?P<needs>\w+), current: (?P<has>\w+)"),
    failure("openvino.cache_precision", r"Wrong value (?P<has>\w+) for property key KV_CACHE_PRECISION", needs="u8"),
    failure("engine.no_model_file", r"Could not find a model in the directory|\[load_gguf\] Failed to open '"),
    failure("engine.bad_model_file", r"Failed to open '[^'\n]*' with gguf_open|Incorrect weights in bin file"
            r"|Empty weights data in bin file|Unable to read the model: |pugi::status_ok|json\.exception\.parse_error"),
    failure("openvino.no_tokenizer", r"openvino_(?:de)?tokenizer(?:\.xml)?[^\n]*(?:not found|no such file)"
            r"|Detokenizer model has not been provided|Tokenizer model has not been provided"
            r"|Either openvino_tokenizer\.xml was not provided"),
    failure("engine.out_of_memory", r"CL_OUT_OF_(?:RESOURCES|HOST_MEMORY)|CL_MEM_OBJECT_ALLOCATION_FAILURE"
            r"|[Ee]xceeded max size of memory", device="GPU", setting="device", instead=CPU),
    failure("engine.out_of_memory", r"std::bad_alloc|bad allocation|MemoryError|Cannot allocate memory"
            r"|total_requested_bytes <= total_available_memory|shape_size\(shape\) == 0 \|\| m_ptr != nullptr",
            device=HOST),
)  # fmt: skip
"""In the order in which they are tried: what names most of a cause before what names less."""


def diagnose(log: Sequence[str], exit_code: int | None) -> Cause | None:
    """The cause of an end; None where the log tells none."""
    del exit_code
    return cause_in(log, FAILURES)
