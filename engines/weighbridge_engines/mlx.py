"""MLX models by mlx-lm: in a process of its own, or in the program itself. On Apple silicon; on Linux without a card,
slowly, or with one of NVIDIA's.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module, metadata, util
from pathlib import Path
from typing import Any

from weighbridge_engines.api import UNCACHED, Capability, Cause, Device, Dialect, Engine, FileFacts, Load, Unsupported
from weighbridge_engines.installed import is_installed
from weighbridge_engines.mlx_controls import BITS, COMPUTE_TYPES, CONTROLS, CacheForm, cache_form, checked, draft_tokens
from weighbridge_engines.mlx_failures import diagnose, failed, said
from weighbridge_engines.mlx_folder import has_module, model_folder, recommended
from weighbridge_engines.mlx_held import Held
from weighbridge_engines.mlx_log import Say, report, tell
from weighbridge_engines.mlx_model import METAL, MlxModel
from weighbridge_engines.mlx_pace import Pace
from weighbridge_engines.mlx_prompt import Conversation
from weighbridge_engines.mlx_session import Limits, MlxSession
from weighbridge_engines.session_log import print_line

PACKAGE = "mlx-lm"
ON_APPLE, ON_LINUX = "mlx-lm", "mlx-lm[cpu]"
"""What installs it. On Linux MLX comes without anything to compute with, unless an extra says what: `cpu`, `cuda13`."""

INSTALL = f'pip install "{ON_LINUX if sys.platform == "linux" else ON_APPLE}" llguidance'


def missing() -> Cause | None:
    """None, or what is missing: the package, what MLX computes with, or a system that it runs on."""
    if not runs_on(sys.platform, platform.machine()):
        return Cause("engine.other_system")
    if not is_installed("mlx_lm"):
        return Cause("engine.not_installed", {"package": PACKAGE})
    return None if _computes() else Cause("engine.nothing_to_compute_with", {"package": ON_LINUX})


def runs_on(system: str, processor: str) -> bool:
    """Whether there is an MLX for that system, by Python's names."""
    if system == "darwin":
        return processor == "arm64"
    return system == "linux" and processor in ("x86_64", "aarch64")


def _computes() -> bool:
    """Whether MLX has its library: on Linux that is a package of its own."""
    found = util.find_spec("mlx")
    places = [] if found is None else list(found.submodule_search_locations or ())
    return any(next((Path(place) / "lib").glob("libmlx.*"), None) for place in places)


def version() -> str | None:
    """The package's version."""
    try:
        return metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        return None


def suits(facts: FileFacts) -> Cause | None:
    """None, or that the mlx-lm that is installed here has no module for the architecture."""
    if facts.architecture is None or has_module(facts.architecture) is not False:
        return None
    return Cause("engine.unknown_architecture", {"architecture": facts.architecture})


def devices() -> list[Device]:
    """What this build can compute on. Call it in a child: it loads the library and its drivers."""
    core: Any = import_module("mlx.core")
    cards = [_card(core, place) for place in range(core.device_count(core.gpu))]
    processor = core.device_info(core.Device(core.cpu, 0))
    return [*cards, Device("CPU", str(processor.get("device_name", "CPU")), "cpu")]


def _card(core: Any, place: int) -> Device:
    told = core.device_info(core.Device(core.gpu, place))
    apple = bool(core.metal.is_available())
    return Device(
        id=METAL if apple else f"CUDA{place}",
        name=str(told.get("device_name", METAL if apple else "CUDA")),
        kind="shared" if apple else "gpu",
        memory_total_bytes=told.get("memory_size") or told.get("total_memory"),
        memory_free_bytes=told.get("free_memory"),
        pci_id=told.get("pci_bus_id"),
    )


def open_session(load: Load) -> MlxSession:
    """Load, with the log on standard error. Raises what `open_here` raises."""
    return open_here(load, print_line, lambda: False)


def open_here(load: Load, say: Say, stopped: Callable[[], bool]) -> MlxSession:
    """Load, with what is told of it said to `say`; given up once `stopped()`.

    Raises Unsupported, FileNotFoundError, and what the library raises; the log then says the cause.
    """
    checked(load)
    try:
        return _opened(load, say, stopped)
    except Unsupported as error:
        say(said(error.cause))
        raise
    except Exception as error:
        say(failed(error))
        raise


def _opened(load: Load, say: Say, stopped: Callable[[], bool]) -> MlxSession:
    folder = model_folder(load.model)
    model = MlxModel(folder, load, say, stopped)
    model.tell(say)
    form = cache_form(load)
    limits = Limits(load.context or model.trained_context, form.most is not None)
    pace = Pace(load.batch, on_card=model.device == METAL or model.device.startswith("CUDA"))
    tell(say, "stage", "context")
    _tell_of_contexts(say, limits, model, form, pace)
    held = Held(model, form)
    draft = None if load.draft is None else _draft(load, held, form, say, stopped)
    tell(say, "stage", "warming")
    conversation = Conversation(load, folder, model)
    try:
        session = MlxSession(held, conversation, limits, pace, recommended(folder), draft, draft_tokens(load))
    except BaseException:
        conversation.close()
        raise
    tell(say, "peak", f"{model.core.get_peak_memory()} bytes")
    return session


def _tell_of_contexts(say: Say, limits: Limits, model: MlxModel, form: CacheForm, pace: Pace) -> None:
    kept = next(
        (kind for kind, bits in BITS.items() if bits == form.bits), COMPUTE_TYPES.get(model.compute_type, "f16")
    )
    told = {
        "trained_context": model.trained_context,
        "context": limits.context,
        "context_shift": limits.shifting,
        "slots": 1,
        "batch": pace.most,
        "key_type": kept,
        "value_type": kept,
        "cache_group": form.group if form.bits else None,
        "cache_quantised_from": form.start if form.bits else None,
    }
    for name, value in told.items():
        if value is not None:
            tell(say, name, value)


def _draft(load: Load, held: Held, form: CacheForm, say: Say, stopped: Callable[[], bool]) -> Held:
    """The draft that `load` names. Raises Unsupported where it does not go with the model."""
    assert load.draft is not None
    tell(say, "draft", load.draft)
    tell(say, "draft_tokens", draft_tokens(load))
    own = replace(Load(load.draft), extra={name: load.extra[name] for name in ("compute_type",) if name in load.extra})
    try:
        folder = model_folder(load.draft)
    except FileNotFoundError:
        raise FileNotFoundError(f"No draft: {load.draft}") from None
    draft = Held(MlxModel(folder, own, say, stopped), form)
    draft.model.tell(say)
    if draft.model.tokenizer.get_vocab() != held.model.tokenizer.get_vocab():
        raise Unsupported(Cause("engine.draft_mismatch", {"reason": "their vocabularies differ"}))
    if not (held.goes_back and draft.goes_back):
        raise Unsupported(Cause("engine.no_draft_here"))
    return draft


ENGINE = Engine(
    id="mlx",
    title="MLX",
    formats=frozenset({"mlx"}),
    capabilities=frozenset(
        {
            Capability.CHAT,
            Capability.JSON_SCHEMA,
            Capability.GRAMMAR,
            Capability.LOGPROBS,
            Capability.LORA,
            Capability.DRAFT,
            Capability.SCORE,
        }
    ),
    install=INSTALL,
    missing=missing,
    devices=devices,
    version=version,
    open=open_session,
    open_here=open_here,
    report=report,
    diagnose=diagnose,
    controls=CONTROLS,
    check=checked,
    suits=suits,
    dialect=Dialect(uncached=UNCACHED),
    environment={
        "HF_HUB_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "MLXLM_USE_MODELSCOPE": "False",
        "TOKENIZERS_PARALLELISM": "false",
        "TRANSFORMERS_OFFLINE": "1",
        "TRANSFORMERS_VERBOSITY": "error",
    },
)
