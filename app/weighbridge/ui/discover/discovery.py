"""What was found on the Hub, what is open of it, and what is known of each choice. It draws nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import zip_longest

from PySide6.QtCore import QObject, Signal

from weighbridge.base.errors import WeighbridgeError
from weighbridge.base.task import Task
from weighbridge.choices.offered import Offered
from weighbridge.formats.variant import Variant
from weighbridge.hub.abandon import abandonable
from weighbridge.hub.groups import Group, groups, of_tasks
from weighbridge.hub.hits import FORMATS, Hit, Query
from weighbridge.hub.layout import Layout, Shelf, shelf_of
from weighbridge.hub.looking import MAIN, Looker, Sight, Spot, Whole
from weighbridge.hub.reference import Reference
from weighbridge.hub.remote import Repository
from weighbridge.hub.wanted import chosen
from weighbridge.library.model import Model
from weighbridge.library.places import downloads_folder
from weighbridge.ui.discover.asking import Asking, Kind, hits_of
from weighbridge.ui.discover.looks import MOST_CHOICES, Looks, place_of
from weighbridge.ui.discover.opened import Opened
from weighbridge.ui.discover.wish import Wish
from weighbridge.ui.services import Services

MOST_SPOTS = 60
"""Repositories of one base model that are listed: the most fetched ones."""

FIRST_LOOKS = 4
"""So many of them are looked into as soon as a base model is opened, and while it is in the list, as far as the Hub
allows; the others when they come into sight."""


class Discovery(QObject):
    """`found`: the list of base models is another. `told`: more is known of what is listed, or of what is open.
    `failed` tells why a search or a look at what was named came to nothing; `meant` the key of the row that a reference
    means.
    """

    found = Signal()
    told = Signal()
    failed = Signal(object)
    meant = Signal(str)

    def __init__(self, services: Services, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self._asking = Asking(services.background)
        self.looks = Looks(services.looker, services.hub.allowances.of, services.background, self)
        self._groups: dict[str, Group] = {}
        self._opened: dict[str, Opened] = {}
        self._key = ""
        self._in_sight: tuple[Spot, ...] = ()
        self._formats: tuple[str, ...] = ()
        self._models: tuple[Model, ...] = tuple(services.library.models)
        self._reading: tuple[str, BaseException | None] = ("", None)
        self.looks.seen.connect(self._seen)
        self.looks.failed.connect(self._look_failed)
        self.looks.changed.connect(self.told)

    @property
    def groups(self) -> Sequence[tuple[str, Group]]:
        """The base models that were found, by their keys."""
        return tuple(self._groups.items())

    @property
    def key(self) -> str:
        """The key of the one that is open; "" where none is."""
        return self._key

    @property
    def is_searching(self) -> bool:
        """Whether an answer of the Hub is waited for."""
        return self._asking.is_open(Kind.SEARCH)

    @property
    def is_opening(self) -> bool:
        """Whether it is still asked which repositories the open base model has."""
        return self._asking.is_open(Kind.OPEN)

    @property
    def title(self) -> str:
        """What is open."""
        return self._opened[self._key].title if self._key in self._opened else ""

    def search(self, wish: Wish) -> None:
        """Look for what is wished; what is open stays until something else is opened."""
        self._asking.drop(Kind.OPEN)
        self.looks.forgive()
        self._formats = wish.formats
        searches, queries = self._services.searches, wish.queries()

        def work(task: Task) -> tuple[Hit, ...]:
            hits = hits_of(searches, queries, task)
            return of_tasks(hits) if wish.chat_only else hits

        self._asking.ask(Kind.SEARCH, work, self._found, self.failed.emit)
        self.told.emit()

    def open(self, key: str) -> None:
        """Open a base model of the list: all its repositories are asked for, the first ones looked into."""
        group = self._groups.get(key)
        if group is None or key == self._key:
            return
        self._key, self._in_sight = key, ()
        self._asking.drop(Kind.OPEN, Kind.HEADER, Kind.CARD)
        base = _base_of(group)
        if base is not None:
            query = Query(base=base)
            searches = self._services.searches
            self._asking.ask(
                Kind.OPEN, lambda task: hits_of(searches, (query,), task), self._add_hits, self._opening_failed
            )
        self._want()
        self.told.emit()

    def name(self, reference: Reference) -> None:
        """Open the one repository that was named, and say which row was meant."""
        self._asking.drop(Kind.SEARCH, Kind.OPEN, Kind.HEADER, Kind.CARD)
        spot = Spot(reference.repo_id, reference.revision or MAIN)
        looker = self._services.looker
        self._asking.ask(
            Kind.OPEN,
            lambda task: _look_for(looker, spot, reference, task),
            lambda found: self._named(reference, *found),
            self.failed.emit,
        )
        self.told.emit()

    def count(self, keys: Iterable[str]) -> None:
        """These base models are in sight: look into one repository of each as far as the Hub allows, then into more of
        each.
        """
        first = [_first(self._of(key).spots) for key in keys if key in self._groups]
        turns = zip_longest(*(spots[1:] for spots in first))
        more = (spot for turn in turns for spot in turn if spot is not None)
        self.looks.count((spot for spots in first for spot in spots[:1]), more)

    def see(self, spots: Iterable[Spot]) -> None:
        """Rows of these spots are in sight: look into them."""
        self._in_sight = tuple(spots)
        self._want()

    def again(self, spot: Spot) -> None:
        """Look into a spot at which a look has failed."""
        if self._key in self._opened:
            self.looks.forgive(spot)
            self._in_sight = (spot, *self._in_sight)
            self._want()

    def renew(self) -> None:
        """Look into what is open anew: a licence was accepted, or something was put there."""
        opened = self._opened.get(self._key)
        if opened is not None:
            self.looks.forget(row.spot for row in self.rows(self._key))
            self.looks.forget(opened.spots)
            opened.forget()
            opened.spots = tuple(map(_untold, opened.spots))
            self._reading = "", None
            self._want()
            self.told.emit()

    def account_changed(self) -> None:
        """Somebody else asks from now on: what could not be read or looked into is tried again once it is wanted."""
        self._services.searches.forget()
        self.looks.look_anew()
        self.looks.forget([sight.spot for sight in self.looks.sights.values() if sight.unread is not None])
        self.looks.forgive()
        self._reading = "", None
        self.told.emit()

    def rows(self, key: str) -> tuple[Offered, ...]:
        """The choices of a base model, as far as they are known."""
        return (
            self._of(key).rows(self.looks.sights, self._shelf, self._models)
            if key in self._groups or key in self._opened
            else ()
        )

    def models(self, key: str) -> tuple[Model, ...]:
        """What of a base model can be weighed, as far as it was looked into."""
        spots = self._of(key).spots if key in self._groups or key in self._opened else ()
        if not any(place_of(spot) in self.looks.sights for spot in spots):
            return ()
        return tuple(row.model for row in self.rows(key) if row.model is not None and row.model.problem is None)

    def is_all(self, key: str) -> bool:
        """Whether each place that holds a base model is known, and was looked into."""
        opened, group = self._opened.get(key), self._groups.get(key)
        if opened is None or not (opened.is_asked or (group is not None and _base_of(group) is None)):
            return False
        return all(row.offer is not None for row in self.rows(key)) and not opened.left_out

    @property
    def left_out(self) -> int:
        """How many choices of what is open `rows` does not tell, for there are too many."""
        return self._opened[self._key].left_out if self._key in self._opened else 0

    def formats(self, key: str) -> set[str]:
        """The formats that a base model is to be had in, as far as lists tell."""
        hits = (spot.hit for spot in self._of(key).spots if spot.hit is not None)
        return {each for hit in hits for each in hit.formats}

    def failure(self, spot: Spot) -> WeighbridgeError | None:
        """Why a look at a spot failed."""
        error = self.looks.failure(spot)
        return error if isinstance(error, WeighbridgeError) else None

    def has_failed(self, key: str) -> bool:
        """Whether a look that was to count the choices of a base model has failed."""
        return any(self.failure(spot) is not None for spot in _first(self._of(key).spots))

    def whole(self, row: Offered) -> Whole | None:
        """All that the headers of a row say, once they were read."""
        return self._opened[self._key].wholes.get(row.key) if self._key in self._opened else None

    def is_read(self, row: Offered) -> bool:
        """Whether all that there is to read of a row is here: of one that is chosen no more, the headers are not."""
        return self._key in self._opened and self._opened[self._key].is_whole(row.key)

    def reading(self, row: Offered) -> tuple[bool, BaseException | None]:
        """Whether the whole header of a row is being read, and why it could not be."""
        key, error = self._reading
        return key == row.key and self._asking.is_open(Kind.HEADER), error if key == row.key else None

    def read_whole(self, row: Offered) -> None:
        """Read the whole header of a row, unless that was done."""
        sight = self.looks.sights.get(place_of(row.spot))
        offer = row.offer
        if offer is None or offer.problem is not None or sight is None or self.is_read(row):
            return
        if self._reading[0] == row.key:
            return  # it is being read, or could not be
        self._reading = row.key, None
        looker = self._services.looker
        self._asking.ask(
            Kind.HEADER,
            lambda task: looker.look_closely(sight, offer, task),
            lambda whole: self._learnt(row.key, whole),
            self._not_read,
        )

    def read_card(
        self, repository: Repository, done: Callable[[str | None], None], failed: Callable[[BaseException], None]
    ) -> None:
        """Read the card of a repository, which may have none."""
        hub = self._services.hub

        def work(task: Task) -> str | None:
            return abandonable(lambda: hub.readme(repository.id, repository.commit), lambda _card: None, task)

        self._asking.ask(Kind.CARD, work, done, failed)

    def library_changed(self) -> None:
        """What is here is another."""
        self._models = tuple(self._services.library.models)
        self.told.emit()

    def forget(self) -> None:
        """Another Hub is asked from now on: nothing of what was told before holds."""
        self.stop()
        self._services.searches.forget()
        self.looks.forget([sight.spot for sight in self.looks.sights.values()])
        self._groups, self._opened, self._key, self._in_sight = {}, {}, "", ()
        self.told.emit()

    def rest(self) -> None:
        """Nobody looks: what is under way comes to its end, and nothing more is looked into."""
        self._in_sight = ()
        self.looks.rest()

    def stop(self) -> None:
        """Give up all that is asked."""
        self._asking.stop()
        self.looks.stop()

    def _found(self, hits: tuple[Hit, ...]) -> None:
        made = {_key_of(group): group for group in groups(hits)}
        self._groups = made
        self._opened = {key: opened for key, opened in self._opened.items() if key == self._key}
        self.looks.count(())
        self.found.emit()

    def _of(self, key: str) -> Opened:
        """What is known of a base model, or of the repository that was named."""
        if key not in self._opened:
            group = self._groups[key]
            self._opened[key] = Opened(group.title, self._spots(group.hits))
        return self._opened[key]

    def _spots(self, hits: Iterable[Hit]) -> tuple[Spot, ...]:
        """Where choices are to be expected, what is fetched most at the front."""
        wanted = set(self._formats or FORMATS)
        there = tuple(hits)
        able = [hit for hit in there if wanted & set(hit.formats)] or list(there[:1])
        able.sort(key=lambda hit: -(hit.downloads or 0))
        return tuple(Spot(hit.id, MAIN, hit) for hit in able[:MOST_SPOTS])

    def _add_hits(self, hits: tuple[Hit, ...]) -> None:
        """The repositories that were quantised from the open base model, beside those that are known."""
        opened, group = self._of(self._key), self._groups.get(self._key)
        known = {spot.repo_id: spot.hit for spot in opened.spots if spot.hit is not None}
        if group is not None:
            known |= {hit.id: hit for hit in group.hits}
        opened.is_asked = True
        opened.spots = self._spots({**{hit.id: hit for hit in hits}, **known}.values())
        self._want()
        self.told.emit()

    def _want(self) -> None:
        """The first ones, and what is in sight."""
        opened = self._opened.get(self._key)
        if opened is not None:
            self.looks.want((*_first(opened.spots), *self._in_sight))

    def _opening_failed(self, error: BaseException) -> None:
        """What the list has told is there; why there is no more of it is said."""
        self.failed.emit(error)
        self.told.emit()

    def _named(self, reference: Reference, sight: Sight, meant: Variant | WeighbridgeError) -> None:
        key = f"={place_of(sight.spot)}"
        self.looks.keep(sight)
        self._opened[key] = Opened(sight.repository.id, (sight.spot,))
        self._key = key
        self.told.emit()
        if isinstance(meant, WeighbridgeError):
            if reference.file is not None or reference.quant is not None:
                self.failed.emit(meant)
            return
        rows = (row for row in self.rows(key) if row.offer is not None and row.offer.variant == meant)
        row = next(rows, None)
        if row is not None:
            self.meant.emit(row.key)

    def _seen(self, spot: Spot, sight: Sight) -> None:
        del spot, sight
        self.told.emit()

    def _look_failed(self, spot: Spot, error: BaseException) -> None:
        del spot
        if not isinstance(error, WeighbridgeError):
            self._services.bus.failed.emit(error)
        self.told.emit()

    def _learnt(self, key: str, whole: Whole) -> None:
        if self._key in self._opened:
            self._opened[self._key].learn(key, whole)
        self.told.emit()

    def _not_read(self, error: BaseException) -> None:
        self._reading = self._reading[0], error
        self.told.emit()

    def _shelf(self, repository: Repository) -> Shelf:
        services = self._services
        folder = downloads_folder(services.paths, services.settings.value, os.environ)
        return shelf_of(repository, Layout(services.settings.value.download_target), folder)


def _look_for(looker: Looker, spot: Spot, reference: Reference, task: Task) -> tuple[Sight, Variant | WeighbridgeError]:
    """What there is at a spot, and which choice of it is meant, or why none is."""
    sight = looker.look(spot, task)
    try:
        meant = chosen([offer.variant for offer in sight.offers], reference)
    except WeighbridgeError as error:
        return sight.within(MOST_CHOICES), error
    return sight.within(MOST_CHOICES, meant), meant


def _first(spots: Sequence[Spot]) -> list[Spot]:
    """One of each format, then others, the most fetched ones."""
    by_format: dict[tuple[str, ...], Spot] = {}
    for spot in spots:
        by_format.setdefault(spot.hit.formats if spot.hit is not None else (), spot)
    found = {place_of(spot): spot for spot in (*by_format.values(), *spots[:FIRST_LOOKS])}
    return list(found.values())[:FIRST_LOOKS]


def _untold(spot: Spot) -> Spot:
    """The same, with nothing taken for granted of where its branch is."""
    return spot if spot.hit is None else replace(spot, hit=replace(spot.hit, commit=None))


def _key_of(group: Group) -> str:
    return (group.base or group.hits[0].id).casefold()


def _base_of(group: Group) -> str | None:
    """The repository at full precision: as others name it, or itself, where nothing of it is quantised yet."""
    alone = group.hits[0].id if not group.formats else None
    return group.base or alone
