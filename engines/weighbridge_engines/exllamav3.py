"""exllamav3, for models in EXL3. Needs CUDA or ROCm."""

from __future__ import annotations

from functools import partial

from weighbridge_engines.api import Capability, Engine, Load
from weighbridge_engines.exl_batch import Batch
from weighbridge_engines.exl_controls import CONTROLS_V3, checked_v3
from weighbridge_engines.exl_failures import diagnose
from weighbridge_engines.exl_folder import folder_of
from weighbridge_engines.exl_log import report
from weighbridge_engines.exl_probe import EXL3, devices, missing, version
from weighbridge_engines.exl_session import ExlSession
from weighbridge_engines.exl_v3_model import V3Model
from weighbridge_engines.prompts import Prompts


def open_session(load: Load) -> ExlSession:
    """Load. Raises Unsupported for what it cannot follow, and what the library raises."""
    checked_v3(load)
    return ExlSession(Batch(partial(V3Model, load)), Prompts(load, folder_of(load.model)))


ENGINE = Engine(
    id="exllamav3",
    title="ExLlamaV3",
    formats=frozenset({"exl3"}),
    capabilities=frozenset(
        {
            Capability.CHAT,
            Capability.PARALLEL,
            Capability.LORA,
            Capability.DRAFT,
            Capability.JSON_SCHEMA,
            Capability.LOGPROBS,
        }
    ),
    install="pip install exllamav3",
    missing=partial(missing, EXL3),
    devices=partial(devices, EXL3),
    version=partial(version, EXL3),
    open=open_session,
    report=report,
    diagnose=diagnose,
    controls=CONTROLS_V3,
    check=checked_v3,
)
