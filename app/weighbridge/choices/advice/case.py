"""One case to advise on: the answers, the ground that they are about, and which row of the table it is. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from weighbridge.choices.advice.advice import Ranked
from weighbridge.choices.advice.answers import (
    LONG_CONTEXT,
    SEVERAL_USERS,
    Answers,
    Goal,
    Hardware,
    ModelKind,
    Need,
    Purpose,
    Room,
    Sharing,
)
from weighbridge.choices.advice.candidate import Candidate
from weighbridge.choices.advice.choosing import Order, ranked
from weighbridge.choices.advice.ground import Ground
from weighbridge.choices.advice.imagined import imagined
from weighbridge.choices.advice.knowledge import Knowledge, knowledge
from weighbridge.choices.advice.machine_kind import Fast, fast_of, hardware_of
from weighbridge.choices.advice.subject import Subject
from weighbridge.estimates.fit import MARGIN, SMALLEST_MARGIN_BYTES

_NVIDIA = (Hardware.ONE_NVIDIA, Hardware.SEVERAL_NVIDIA, Hardware.NVIDIA_SERVER, Hardware.BLACKWELL_SERVER)
_CARDS = (Hardware.ONE_NVIDIA, Hardware.SEVERAL_NVIDIA, Hardware.AMD_CARD)
"""Machines whose cards may be too small for a model that the system's memory holds."""
_NO_FLEET = (Hardware.PROCESSOR, Hardware.INTEL, Hardware.APPLE, Hardware.AMD_CARD)
"""Machines of which no engine for fleets makes one."""


@dataclass(frozen=True)
class Case:
    """All that advice depends on. `told` are the answers as they were given: those of a fleet on a machine that is none
    are about another one in `answers`.
    """

    answers: Answers
    told: Answers
    ground: Ground
    known: Knowledge

    @cached_property
    def fast(self) -> Fast:
        """The memory in which a model is fastest."""
        return fast_of(self.ground.around.machine)

    @property
    def cards(self) -> int | None:
        """How many there are; None of a machine of which only the kind is known."""
        return None if self.ground.imagined and self.fast.count > 1 else self.fast.count

    @property
    def only_room(self) -> Room | None:
        """Where a model lies on a machine that leaves no choice; None where there is one."""
        if self.fast.vendor == "cpu":
            return Room.SYSTEM
        return Room.UNIFIED if self.fast.unified else None

    @property
    def room(self) -> Room:
        """Where a model lies: as it was answered, unless the machine leaves no choice."""
        answered = Room.UNKNOWN if self.answers.room is Room.UNIFIED else self.answers.room
        return self.only_room or answered

    @cached_property
    def order(self) -> Order:
        """The rows of the table that decide."""
        frugal = self.answers.goal is Goal.COST
        return Order(self.answers.hardware.value, load_of(self.answers), ready_first=frugal)

    @cached_property
    def engines(self) -> tuple[Ranked, ...]:
        """All engines, the best first."""
        answers = self.answers
        return ranked(
            self.ground,
            self.order,
            Subject(answers.format, users=answers.users, needs=answers.needs),
            self.known,
        )

    def candidate(self, engine_id: str) -> Candidate:
        """One engine of the table."""
        return Candidate(self.known.engines[engine_id], self.ground.engine(engine_id), self.ground)

    @cached_property
    def room_bytes(self) -> int | None:
        """What weights and conversation may take together in the fast memory, with a margin kept; None where that is
        not known. What is in use now counts as free where nobody knows how much that is.
        """
        whole = self.fast.free_bytes if self.fast.free_bytes is not None else self.fast.total_bytes
        if whole is None:
            return None
        margin = max(SMALLEST_MARGIN_BYTES * self.fast.count, int((self.fast.total_bytes or whole) * MARGIN))
        return max(0, whole - margin)


def case_of(answers: Answers, ground: Ground) -> Case:
    """The case; of a machine of another kind than the one of the ground nothing more is known than that. A fleet is
    made of servers with cards, whatever is here.
    """
    told = answers
    if answers.purpose is Purpose.FLEET and answers.hardware in _NO_FLEET:
        answers = replace(answers, hardware=Hardware.NVIDIA_SERVER)
    if answers.hardware is not hardware_of(ground.around.machine):
        ground = imagined(ground, answers.hardware)
    return Case(answers, told, ground, knowledge())


def load_of(answers: Answers) -> str:
    """The row of the table for what is planned, "" where the machine alone decides."""
    return next((row for row, holds in _rows() if holds(answers)), "")


def _rows() -> Iterator[tuple[str, Callable[[Answers], bool]]]:
    """The rows, those that decide more first."""
    yield "application", lambda told: told.purpose is Purpose.APPLICATION
    yield "checking", lambda told: told.purpose is Purpose.CHECKING
    yield "fleet", lambda told: told.purpose is Purpose.FLEET
    yield "fixed", lambda told: told.purpose is Purpose.FIXED and told.hardware in _NVIDIA
    yield "samplers", lambda told: Need.SAMPLERS in told.needs and told.serves
    yield "compress", lambda told: Need.COMPRESS in told.needs or (Need.VISION in told.needs and told.serves)
    yield "adapters", lambda told: Need.ADAPTERS in told.needs
    yield "shared", lambda told: told.serves and _is_shared(told)
    yield "many_users", lambda told: told.serves or (told.goal is Goal.THROUGHPUT and told.users > 1)
    yield "in_parts", lambda told: told.room in (Room.PARTLY, Room.SYSTEM) and told.hardware in _CARDS
    yield "portable", lambda told: told.goal is Goal.PORTABILITY
    yield "simple", lambda told: told.goal is Goal.SIMPLICITY and told.users < SEVERAL_USERS


def _is_shared(told: Answers) -> bool:
    """Whether prompts have much in common, or are of a kind for which the tree of prefixes was made."""
    long = told.context >= LONG_CONTEXT
    return told.sharing is not Sharing.NONE or Need.JSON_SCHEMA in told.needs or long or told.kind is ModelKind.MOE
