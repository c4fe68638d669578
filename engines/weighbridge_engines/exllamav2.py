"""exllamav2, for models in EXL2: archived by its authors, and still what runs them. Needs CUDA or ROCm."""

from __future__ import annotations

from functools import partial

from weighbridge_engines.api import Capability, Engine, Load
from weighbridge_engines.exl_batch import Batch
from weighbridge_engines.exl_controls import CONTROLS_V2, checked_v2
from weighbridge_engines.exl_failures import diagnose
from weighbridge_engines.exl_folder import folder_of
from weighbridge_engines.exl_log import report
from weighbridge_engines.exl_probe import EXL2, devices, missing, version
from weighbridge_engines.exl_session import ExlSession
from weighbridge_engines.exl_v2_model import V2Model
from weighbridge_engines.prompts import Prompts


def open_session(load: Load) -> ExlSession:
    """Load. Raises Unsupported for what it cannot follow, and what the library raises."""
    checked_v2(load)
    return ExlSession(Batch(partial(V2Model, load)), Prompts(load, folder_of(load.model)))


ENGINE = Engine(
    id="exllamav2",
    title="ExLlamaV2",
    formats=frozenset({"exl2"}),
    capabilities=frozenset({Capability.CHAT, Capability.PARALLEL, Capability.LORA, Capability.DRAFT}),
    install="pip install exllamav2",
    missing=partial(missing, EXL2),
    devices=partial(devices, EXL2),
    version=partial(version, EXL2),
    open=open_session,
    report=report,
    diagnose=diagnose,
    controls=CONTROLS_V2,
    check=checked_v2,
)
