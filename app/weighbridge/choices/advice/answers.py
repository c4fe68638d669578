"""What the ten questions ask, as values: the kinds of answers, and one set of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

LONG_CONTEXT = 32_768
"""From so many tokens on, the conversation is likely to be what fills the memory."""

SEVERAL_USERS = 4
"""From so many at once on, an engine for serving is worth its trouble."""


class Hardware(StrEnum):
    """The kinds of machines that are advised differently."""

    PROCESSOR = "processor"
    INTEL = "intel"
    APPLE = "apple"
    ONE_NVIDIA = "one_nvidia"
    SEVERAL_NVIDIA = "several_nvidia"
    NVIDIA_SERVER = "nvidia_server"
    BLACKWELL_SERVER = "blackwell_server"
    AMD_CARD = "amd_card"
    AMD_SERVER = "amd_server"


class Room(StrEnum):
    """Where a model lies: all on cards, in part, in the system's memory, or in one that all share."""

    FAST = "fast"
    PARTLY = "partly"
    SYSTEM = "system"
    UNIFIED = "unified"
    UNKNOWN = "unknown"


class Prompt(StrEnum):
    """Which part of a request is long: the answer (writing is what takes time), the prompt (reading is), or both."""

    SHORT = "short"
    LONG = "long"
    MIXED = "mixed"


class Sharing(StrEnum):
    """What prompts have in common: nothing, how they begin, or the tree of conversations that agents make."""

    NONE = "none"
    START = "start"
    AGENTS = "agents"


class ModelKind(StrEnum):
    """How a model is made."""

    DENSE = "dense"
    MOE = "moe"
    MULTIMODAL = "multimodal"
    HYBRID = "hybrid"
    UNKNOWN = "unknown"


class Need(StrEnum):
    """What an engine must be able to do for what is planned."""

    JSON_SCHEMA = "json_schema"
    TOOLS = "tools"
    VISION = "vision"
    EMBEDDINGS = "embeddings"
    ADAPTERS = "adapters"
    SAMPLERS = "samplers"
    COMPRESS = "compress"


class Purpose(StrEnum):
    """What it is for. FIXED: one model for weeks, worth an hour of compiling. CHECKING: is it the engine or the model.
    APPLICATION: inside a browser, a phone or a program of one's own.
    """

    LOCAL = "local"
    SERVING = "serving"
    FLEET = "fleet"
    FIXED = "fixed"
    APPLICATION = "application"
    CHECKING = "checking"


class Link(StrEnum):
    """What joins the cards, or the machines."""

    NONE = "none"
    PCIE = "pcie"
    NVLINK = "nvlink"
    ETHERNET = "ethernet"
    RDMA = "rdma"
    THUNDERBOLT = "thunderbolt"
    UNKNOWN = "unknown"


class Goal(StrEnum):
    """What matters most."""

    LATENCY = "latency"
    THROUGHPUT = "throughput"
    COST = "cost"
    PRIVACY = "privacy"
    PORTABILITY = "portability"
    SIMPLICITY = "simplicity"


OPEN = "any"
"""The answer to which format is wanted where none is."""


@dataclass(frozen=True)
class Answers:
    """One answer to each question, in their order. `context` is in tokens, for each of `users` at the same time;
    `format` is that of files that are to be run, or OPEN.
    """

    hardware: Hardware = Hardware.PROCESSOR
    room: Room = Room.UNKNOWN
    prompt: Prompt = Prompt.SHORT
    context: int = 4096
    users: int = 1
    sharing: Sharing = Sharing.NONE
    kind: ModelKind = ModelKind.UNKNOWN
    needs: frozenset[Need] = frozenset()
    purpose: Purpose = Purpose.LOCAL
    format: str = OPEN
    link: Link = Link.NONE
    goal: Goal = Goal.LATENCY

    @property
    def serves(self) -> bool:
        """Whether several are to be answered at a time, by more than a single desk's engine."""
        return self.purpose in (Purpose.SERVING, Purpose.FLEET, Purpose.FIXED) or self.users >= SEVERAL_USERS


_USUAL = Answers()


def as_answer(name: str, told: Any) -> Any:
    """What was told for the field `name`, a word, words or a number, as its value."""
    return frozenset(map(Need, told)) if name == "needs" else type(getattr(_USUAL, name))(told)
