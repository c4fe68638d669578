"""Loads that failed, and whether the same load would fail in the same way: then it is not made again by itself.

Owned by the supervisor's thread. What the user asks for by name is always tried.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from weighbridge.base.errors import WeighbridgeError
from weighbridge.library.model import Model
from weighbridge_engines.api import HOST, Engine, Load

OUTSIDE_S = 60.0
"""What stands outside of the file, the load and the build is not seen to change: after so long it is tried again."""

MORE_MEMORY_BYTES, MORE_MEMORY = 256 << 20, 0.02
"""So much more free than at the failed load, the larger of the two, and another try makes sense."""

OF_MEMORY = frozenset({"engine.killed", "engine.memory_refused", "engine.out_of_memory"})
"""The system's memory ran out, unless it is said that it was a card's."""

OF_OUTSIDE = frozenset(
    {
        "engine.card_failed",
        "engine.card_memory_refused",
        "engine.driver",
        "engine.file_denied",
        "engine.missing_driver",
        "engine.missing_library",
        "engine.no_adapter_file",
        "engine.no_draft_file",
        "engine.no_model_file",
        "engine.no_projector_file",
        "engine.not_installed",
        "engine.not_loadable",
        "engine.nothing_to_compute_with",
        "engine.old_system",
        "exl.cpu_torch",
        "exl.no_card",
        "exl.no_compiler",
        "exl.no_driver",
        "exl.no_ninja",
        "exl.no_package",
        "exl.no_toolkit",
        "exl.not_compiled",
        "exl.old_driver",
        "exl.other_toolkit",
        "exl.other_torch",
        "openvino.no_card_runtime",
        "program.batch_out_of_memory",
        "program.card_not_free",
        "program.context_too_long",
        "program.needs_card",
        "program.no_module",
        "program.no_room_for_cache",
        "program.no_room_for_context",
        "program.sees_no_card",
    }
)
"""A card's memory, a driver, a library, a compiler, a package beside the engine, a right, a file beside the model."""

OF_CHANCE = frozenset({"engine.file_changed", "engine.port_taken", "engine.stopped"})
"""What says nothing of the next try."""

OF_ITSELF = frozenset(
    {
        "engine.adapter_mismatch",
        "engine.bad_model_file",
        "engine.bad_option",
        "engine.bad_settings",
        "engine.cache_needs_flash",
        "engine.cache_type_size",
        "engine.cache_type_unknown",
        "engine.cannot_map",
        "engine.card_not_built_for",
        "engine.draft_mismatch",
        "engine.file_name",
        "engine.file_other_order",
        "engine.file_too_new",
        "engine.file_too_old",
        "engine.illegal_instruction",
        "engine.instruction_missing",
        "engine.is_projector",
        "engine.load_refused",
        "engine.no_backend",
        "engine.no_draft_here",
        "engine.no_shift",
        "engine.no_small_cache",
        "engine.no_strength",
        "engine.no_such_device",
        "engine.no_tokenizer",
        "engine.option_unknown",
        "engine.other_layout",
        "engine.other_system",
        "engine.own_code",
        "engine.piece_too_large",
        "engine.projector_mismatch",
        "engine.projector_refused",
        "engine.template",
        "engine.type_removed",
        "engine.type_unknown",
        "engine.unknown_architecture",
        "engine.unknown_tokenizer",
        "engine.wrong_part",
        "exl.card_too_old",
        "exl.no_head",
        "exl.no_tensor_split",
        "exl.no_tokenizer",
        "onnx_genai.no_config",
        "onnx_genai.no_tokenizer",
        "onnx_genai.option",
        "onnx_genai.other_build",
        "onnx_genai.path",
        "onnx_genai.provider",
        "openvino.architecture",
        "openvino.cache_precision",
        "openvino.no_tokenizer",
        "openvino.tensor_type",
        "openvino.tensor_types",
        "program.dtype_needs_card",
        "program.needs_newer_card",
        "program.no_tokenizer",
        "program.other_backend",
        "program.other_version",
        "program.quantisation_needs_card",
        "program.quantisation_unknown",
    }
)
"""The file, the load or the build: as long as they stay, so does the failure. Any other is so once it came twice."""


@dataclass(frozen=True)
class Attempt:
    """What a load depends on: its settings, the files as they lie there, the build, and the free memory before it."""

    load: Load
    files: tuple[tuple[int, int] | None, ...]
    build: tuple[str, str, str | None]
    available_bytes: int | None


@dataclass(frozen=True)
class Failed:
    """How an attempt ended, when (`time.monotonic()`), and how often in a row it did so."""

    attempt: Attempt
    error: WeighbridgeError
    at_s: float
    times: int = 1


def attempt_of(model: Model, load: Load, engine: Engine, available_bytes: int | None) -> Attempt:
    """The attempt to load `model` now. Reads the state of its files, and of all that lies in one that is a folder."""
    files = tuple(_state_of(part) for part in (*model.parts, *_inside(model.path)))
    return Attempt(load, files, (engine.id, engine.build, engine.version()), available_bytes)


def would_fail(failed: Failed, attempt: Attempt, now_s: float) -> bool:
    """Whether `attempt` would end as `failed` did, as far as that can be said. Pure."""
    before, code = failed.attempt, failed.error.code
    if (before.load, before.files, before.build) != (attempt.load, attempt.files, attempt.build) or code in OF_CHANCE:
        return False
    if code in OF_MEMORY and failed.error.values.get("device") in (None, HOST):
        return not _more_memory(before.available_bytes, attempt.available_bytes, now_s - failed.at_s)
    if code in OF_OUTSIDE or code in OF_MEMORY:
        return now_s - failed.at_s < OUTSIDE_S
    return code in OF_ITSELF or failed.times > 1


def _more_memory(before_bytes: int | None, now_bytes: int | None, elapsed_s: float) -> bool:
    if before_bytes is None or now_bytes is None:
        return elapsed_s >= OUTSIDE_S
    return now_bytes >= before_bytes + max(MORE_MEMORY_BYTES, int(before_bytes * MORE_MEMORY))


class Failures:
    """The last failed load of each model."""

    def __init__(self, available_bytes: Callable[[], int | None]) -> None:
        self._available_bytes = available_bytes
        self._failed: dict[str, Failed] = {}

    def attempt(self, model: Model, load: Load, engine: Engine) -> Attempt:
        """What a load made now depends on."""
        return attempt_of(model, load, engine, self._available_bytes())

    def keep(self, model_id: str, attempt: Attempt, error: WeighbridgeError) -> None:
        """`attempt` has failed."""
        before = self._failed.get(model_id)
        again = before is not None and (before.attempt.load, before.error.code) == (attempt.load, error.code)
        times = before.times + 1 if before is not None and again else 1
        self._failed[model_id] = Failed(attempt, error, time.monotonic(), times)

    def has(self, model_id: str) -> bool:
        """Whether its last load failed."""
        return model_id in self._failed

    def sure(self, model: Model, load: Load, engine: Engine) -> WeighbridgeError | None:
        """How a load made now would fail, where that is sure."""
        failed = self._failed.get(model.id)
        if failed is None or not would_fail(failed, self.attempt(model, load, engine), time.monotonic()):
            return None
        return failed.error

    def forget(self, model_id: str) -> None:
        """It was loaded, or the user wants it tried."""
        self._failed.pop(model_id, None)


def _inside(path: Path) -> list[Path]:
    """What lies in a folder, by name; nothing where `path` is a file, or cannot be looked into."""
    try:
        return sorted(path.iterdir())
    except (OSError, ValueError):
        return []


def _state_of(part: Path) -> tuple[int, int] | None:
    try:
        state = part.stat()
    except (OSError, ValueError):
        return None
    return (state.st_size, state.st_mtime_ns)
