"""What of a repository can be fetched, before anything of it is: each choice with its files and their size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from weighbridge.base.errors import BadFile, Refused, WeighbridgeError
from weighbridge.base.task import Task
from weighbridge.formats.architectures import Kind
from weighbridge.formats.model import ModelInfo
from weighbridge.formats.safe_names import refusals
from weighbridge.formats.variant import Reader, Role, Variant
from weighbridge.hub.abandon import abandonable
from weighbridge.hub.peek import remote_reader
from weighbridge.hub.reference import Reference
from weighbridge.hub.remote import Repository
from weighbridge.hub.wanted import Wanted, chosen, files_of, variants_of

_BESIDE = frozenset({Kind.IMATRIX, Kind.PROJECTION})
"""What is fetched beside a model, and is no choice by itself unless it was asked for."""


class Asked(Protocol):
    """What is asked of the Hub here."""

    def repository(self, repo_id: str, revision: str = "main", task: Task | None = None) -> Repository:
        """See `client.Hub`."""

    def branches(self, repo_id: str) -> tuple[str, ...]:
        """See `client.Hub`."""

    def small(self, repo_id: str, commit: str, path: str, most_bytes: int, purpose: str = "file") -> bytes:
        """See `client.Hub`."""


@dataclass(frozen=True)
class Offer:
    """One choice. `plain`: its files, None where `problem` says why it cannot be fetched. `seeing`: the same with the
    file by which the model sees pictures, where the repository has one. `info` is what its header or its config says,
    None where that was not asked, or says nothing.
    """

    variant: Variant
    plain: Wanted | None = None
    seeing: Wanted | None = None
    problem: WeighbridgeError | None = None
    info: ModelInfo | None = None


@dataclass(frozen=True)
class Found:
    """What a reference leads to. `preferred`: the offer that it means, where it means one. `branches`: where else to
    look, told only where there is nothing in the branch that was asked.
    """

    repository: Repository
    offers: tuple[Offer, ...] = ()
    preferred: Offer | None = None
    branches: tuple[str, ...] = ()


def _nothing(variant: Variant) -> None:
    del variant


def find(hub: Asked, reference: Reference, task: Task) -> Found:
    """Ask the Hub what `reference` leads to. Raises Cancelled at once when `task` is cancelled; what the Hub answers
    (see `remote.Source`); and what `wanted.chosen` does where a file or quantisation is named that is not there.
    """
    return abandonable(lambda: _found(_Asking(hub, task), reference, task), lambda _found: None, task)


def offers_of(repository: Repository, reader: Reader | None = None) -> tuple[Offer, ...]:
    """The choices of `repository`, the largest first, those with a problem last."""
    return offers_among(repository, variants_of(repository, reader))


def offers_among(
    repository: Repository, variants: Iterable[Variant], info_of: Callable[[Variant], ModelInfo | None] = _nothing
) -> tuple[Offer, ...]:
    """The same of `variants`, which were found in `repository`; `info_of` gives what is known of one."""
    refused = refusals(file.path for file in repository.files)
    made = [replace(_offer(repository, each, refused), info=info_of(each)) for each in variants if each.files]
    return tuple(sorted(made, key=lambda offer: (offer.plain is None, -_size_bytes(offer))))


def shown(offers: Sequence[Offer], preferred: Offer | None = None) -> tuple[Offer, ...]:
    """Those that are choices by themselves, and the one that was asked for."""
    return tuple(offer for offer in offers if offer is preferred or offer.variant.kind not in _BESIDE)


class _Asking:
    """The Hub, asked for nothing more once `task` is cancelled."""

    def __init__(self, hub: Asked, task: Task) -> None:
        self._hub, self._task = hub, task

    def repository(self, repo_id: str, revision: str = "main", task: Task | None = None) -> Repository:
        self._task.check()
        return self._hub.repository(repo_id, revision, task)

    def branches(self, repo_id: str) -> tuple[str, ...]:
        self._task.check()
        return self._hub.branches(repo_id)

    def small(self, repo_id: str, commit: str, path: str, most_bytes: int, purpose: str = "file") -> bytes:
        self._task.check()
        return self._hub.small(repo_id, commit, path, most_bytes, purpose)


def _found(hub: Asked, reference: Reference, task: Task) -> Found:
    repository = hub.repository(reference.repo_id, reference.revision or "main", task)
    reader = remote_reader(hub, repository)
    offers = offers_of(repository, reader)
    if not any(offer.plain for offer in offers):
        branches = [name for name in hub.branches(repository.id) if name != repository.revision]
        if branches or offers:
            return Found(repository, offers, None, tuple(branches))
    preferred = _preferred(offers, reference)
    return Found(repository, shown(offers, preferred), preferred)


def _preferred(offers: Sequence[Offer], reference: Reference) -> Offer | None:
    """Where a file or quantisation is named, it must be there; else it is the user's to choose."""
    try:
        meant = chosen([offer.variant for offer in offers], reference)
    except Refused as error:
        if error.code == "hub.several" and reference.file is None and reference.quant is None:
            return None
        raise
    return next(offer for offer in offers if offer.variant == meant)


def _offer(repository: Repository, variant: Variant, refused: Mapping[str, BadFile]) -> Offer:
    try:
        plain = files_of(variant, repository, refused)
        sees = any(companion.role is Role.PROJECTOR for companion in variant.companions)
        seeing = files_of(variant, repository, refused, with_projector=True) if sees else None
    except WeighbridgeError as problem:
        return Offer(variant, problem=problem)
    return Offer(variant, plain, seeing)


def _size_bytes(offer: Offer) -> int:
    return offer.plain.size_bytes if offer.plain else offer.variant.size_bytes or 0
