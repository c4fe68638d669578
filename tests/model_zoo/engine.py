"""What llama.cpp itself would allocate for a model of which only the header is there.

The engine sizes a model without reading a weight, in a child that is ended as soon as it has said its sums.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.model_zoo.settings import Setting

TIMEOUT_S = 60.0
_CHILD = """
import json, sys
import xllamacpp as engine
asked = json.loads(sys.argv[1])
params = engine.CommonParams()
params.model.path, params.n_ctx, params.n_ubatch, params.n_batch = asked["path"], asked["context"], asked["micro"], 2048
params.n_parallel, params.kv_unified, params.swa_full = asked["slots"], asked["unified"], asked["whole"]
params.cache_type_k = params.cache_type_v = getattr(engine.ggml_type, "GGML_TYPE_" + asked["kv_type"].upper())
kind = engine.llama_flash_attn_type
params.flash_attn_type = kind.LLAMA_FLASH_ATTN_TYPE_AUTO if asked["flash"] else kind.LLAMA_FLASH_ATTN_TYPE_DISABLED
params.no_alloc, params.fit_params, params.warmup, params.verbosity = True, True, False, 5
params.hostnames, params.port, params.cpuparams.n_threads = ["127.0.0.1"], 0, 1
engine.Server(params)
"""
_SIZE = re.compile(r"(output|KV|RS|compute) buffer size =\s*([\d.]+) MiB")
_CACHE = re.compile(r"llama_kv_cache\w*: size =\s*([\d.]+) MiB")
_STATE = re.compile(r"(?:llama_memory_recurrent: size|DSV4 \w+ state buffer size) =\s*([\d.]+) MiB")
_TABLE = re.compile(r"\|\s+- \S.*?\|.*?(\d+)\s*=\s*(\d+)\s*\+\s*(\d+)\s*\+\s*(\d+)")


@dataclass(frozen=True)
class Answer:
    """What the engine would allocate, in MiB: `cache_mib` and `state_mib` as it rounds them in its log."""

    compute_mib: float
    output_mib: float
    cache_mib: float
    state_mib: float


@contextmanager
def sparse_file(header: bytes, file_bytes: int) -> Iterator[Path]:
    """A file with this header that claims to be as long as the whole one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.gguf"
        with path.open("wb") as file:
            file.write(header)
            file.truncate(max(file_bytes, len(header)))
        yield path


def ask(path: Path, setting: Setting) -> Answer | str:
    """The engine's answer, or the end of its log where it refuses the file."""
    lines: list[str] = []
    for line in _log(path, setting):
        lines.append(line)
        if _TABLE.search(line):
            return _answer("\n".join(lines))
    return (
        "\n".join(line for line in lines if " E " in line or "rror" in line or "ASSERT" in line)[-600:] or "no answer"
    )


def _log(path: Path, setting: Setting) -> Iterator[str]:
    asked = {
        "path": str(path), "context": setting.context, "micro": setting.micro_batch, "slots": setting.slots,
        "unified": setting.unified, "kv_type": setting.kv_type, "flash": setting.flash,
        "whole": setting.whole,
    }  # fmt: skip
    with subprocess.Popen(
        ["timeout", str(TIMEOUT_S), sys.executable, "-c", _CHILD, json.dumps(asked)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env={**os.environ, "GGML_NO_BACKTRACE": "1"},
    ) as child:
        assert child.stdout is not None
        try:
            yield from child.stdout
        finally:
            child.terminate()


def _answer(log: str) -> Answer:
    sizes: dict[str, float] = {}
    for kind, size in _SIZE.findall(log):
        sizes[kind] = float(size)
    return Answer(
        compute_mib=sizes["compute"],
        output_mib=sizes.get("output", 0.0),
        cache_mib=round(sum(map(float, _CACHE.findall(log))), 2),
        state_mib=round(sum(map(float, _STATE.findall(log))), 2),
    )
