"""The rows of the Library: sorted, searched, kept by a test, and what their columns say."""

import random
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QPersistentModelIndex, Qt

from weighbridge.choices.choice import Choice
from weighbridge.choices.runner import Runner
from weighbridge.estimates.fit import Verdict
from weighbridge.library.marks import Mark
from weighbridge.library.model import ADDED, Model
from weighbridge.ui.models.arranging import arranged
from weighbridge.ui.models.library_model import LibraryModel
from weighbridge.ui.models.library_row import Column, LibraryRow, sort_key, tip
from weighbridge.ui.models.ordering import ordered
from weighbridge.ui.moments import last_used
from weighbridge_engines.api import Cause, Load

THIN = "\u202f"
MIB = 1 << 20


def row(name, *, size_bytes=100 * MIB, source="own", disk_bytes=None, **mark):
    path = Path(f"/models/{name}.gguf")
    model = Model(name, name, path, (path,), "gguf", "Q4_0", size_bytes, source=source)
    return LibraryRow(model, mark=Mark(**mark), disk={} if disk_bytes is None else {name: disk_bytes})


def made(*rows):
    model = LibraryModel()
    model.show_rows(rows, 4096)
    return model


def names(model):
    return [model.row(place).model.id for place in range(model.rowCount())]


def test_unknown_stays_last_whichever_way():
    keys = {"a": (False, 2), "b": (True, 0), "c": (False, 1)}
    assert ordered("abc", keys.__getitem__) == ["c", "a", "b"]
    assert ordered("abc", keys.__getitem__, descending=True) == ["a", "c", "b"]


def test_what_was_used_last_comes_first_and_what_never_was_comes_last():
    model = made(row("old", used_s=1.0), row("never"), row("new", used_s=9.0))
    model.sort(Column.USED)
    assert names(model) == ["new", "old", "never"]
    model.sort(Column.USED, Qt.SortOrder.DescendingOrder)
    assert names(model) == ["old", "new", "never"]


@pytest.mark.parametrize("column", list(Column))
def test_every_column_sorts_whatever_is_known(column):
    rows = [row("a", used_s=1.0, disk_bytes=5), row("b", source=ADDED), row("c", note="x")]
    model = made(*rows)
    for order in (Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder):
        model.sort(column, order)
        assert sorted(names(model)) == ["a", "b", "c"]


def test_words_find_notes_and_sources_too():
    model = made(row("a", note="Good at CODE"), row("b", source=ADDED), row("c"))
    model.search("code good")
    assert names(model) == ["a"]
    model.search("added")
    assert names(model) == ["b"]
    model.search("nothing of the kind")
    assert names(model) == []
    model.search("")
    assert names(model) == ["a", "b", "c"]


def test_a_note_that_is_written_is_found_at_once():
    model = made(row("a"), row("b"))
    model.search("poems")
    assert names(model) == []
    model.show_rows([row("a"), row("b", note="poems")], 4096)
    assert names(model) == ["b"]


def test_only_what_passes_a_test_is_kept_with_the_words():
    model = made(row("a1", used_s=1.0), row("a2"), row("b"))
    model.keep(lambda row: row.mark.used_s is None)
    assert names(model) == ["a2", "b"]
    model.search("a2")
    assert names(model) == ["a2"]
    model.keep(None)
    assert names(model) == ["a2"]


def test_rows_that_change_places_keep_what_points_at_them():
    rows = [row(f"m{number:02d}", used_s=float(number)) for number in range(20)]
    random.Random(1).shuffle(rows)
    model = made(*rows)
    kept = {name: QPersistentModelIndex(model.index(place, 0)) for place, name in enumerate(names(model))}
    model.sort(Column.USED, Qt.SortOrder.DescendingOrder)
    assert {index.row(): name for name, index in kept.items()} == dict(enumerate(names(model)))
    assert model.place_of("m03") == names(model).index("m03")
    assert model.place_of("gone") is None


def test_a_file_that_takes_another_room_than_its_size_says_so():
    assert tip(row("a", disk_bytes=100 * MIB + 4096), Column.SIZE) is None
    assert tip(row("a"), Column.DISK) is None
    said = tip(row("a", disk_bytes=4096), Column.DISK)
    assert said == f"The files say 100.0{THIN}MiB; they take 4.0{THIN}KiB of the disk."


def test_columns_that_tell_nothing_have_no_use():
    model = made(row("a"), row("b"))
    assert model.without_use == [Column.RUNNER, Column.SOURCE, Column.FORMAT, Column.DISK, Column.USED]
    model.show_rows([row("a", used_s=1.0), row("b", source=ADDED)], 4096)
    assert model.without_use == [Column.RUNNER, Column.FORMAT, Column.DISK]


def test_the_room_on_the_disk_sorts_once_it_is_known(qtbot):
    disk = {}
    rows = [replace(row("a"), disk=disk), replace(row("b"), disk=disk)]
    model = made(*rows)
    model.sort(Column.DISK)
    disk.update(a=9 * MIB, b=4 * MIB)
    with qtbot.waitSignal(model.dataChanged):
        model.tell_disk()
    assert names(model) == ["b", "a"]
    assert Column.DISK not in model.without_use


def test_when_it_was_used_is_said_by_the_day():
    noon = 1_790_000_000.0
    assert last_used(None, noon) == "never"
    assert last_used(noon - 60, noon) == "today"
    assert last_used(noon + 3600, noon) == "today"  # another machine's clock
    assert last_used(noon - 86_400, noon) == "yesterday"
    assert last_used(noon - 30 * 86_400, noon) == "2026-08-22"


def shown_in_full(rows, view):
    """What a full sort of the rows that pass would show."""
    kept = [row for row in rows if view.test is None or view.test(row)]
    kept = [row for row in kept if all(word in row.searched for word in view.words)]
    key = sort_key(view.column)
    return [row.model.id for row in ordered(kept, key, descending=view.descending)]


@pytest.mark.parametrize("seed", range(12))
def test_after_whatever_was_updated_the_order_is_that_of_a_full_sort(seed):
    """Rows that are updated, sorted, searched, kept, listed anew and put in order beforehand, in any order."""
    chance = random.Random(seed)
    rows = [row(f"m{number:02d}", size_bytes=chance.randrange(1, 9) * MIB) for number in range(30)]
    model = made(*rows)
    for _ in range(60):
        step = chance.randrange(6)
        if step == 0:
            model.sort(chance.choice([Column.MODEL, Column.SIZE, Column.USED]), chance.choice(list(Qt.SortOrder)))
        elif step == 1:
            model.search(chance.choice(["", "m1", "m0 note", "2"]))
        elif step == 2:
            model.keep(chance.choice([None, lambda row: row.mark.used_s is None]))
        elif step == 3:
            places = chance.sample(range(len(rows)), chance.randrange(1, 6))
            for place in places:
                mark = Mark(used_s=chance.choice([None, 1.0, 2.0]), note=chance.choice(["", "note"]))
                rows[place] = replace(rows[place], mark=mark)
            model.update_rows({rows[place].model.id: rows[place] for place in places}, tuple(Column))
        elif step == 4:
            rows = [each for each in rows if chance.random() > 0.05] + [row(f"n{chance.randrange(10**6)}")]
            model.show_arranged(arranged(rows, model.view))
        else:
            before = arranged(rows, model.view)
            model.sort(Column.SIZE)  # after it was put in order elsewhere
            model.show_arranged(before)
        assert names(model) == shown_in_full(rows, model.view)
        assert [model.place_of(name) for name in names(model)] == list(range(model.rowCount()))


def test_the_same_rows_again_change_nothing(qtbot):
    rows = [row("a"), row("b", used_s=1.0)]
    model = made(*rows)
    told = []
    for signal in (model.modelReset, model.dataChanged, model.layoutChanged):
        signal.connect(lambda *_: told.append(1))
    model.show_arranged(arranged(rows, model.view))
    model.show_arranged(arranged([replace(each) for each in rows], model.view))
    assert told == []


def test_what_needs_a_card_that_is_not_here_says_so_and_stands_after_what_is_too_large():
    def weighed(name, verdict, missing=None):
        shown = row(name)
        runner = Runner("exllamav3", "ExLlamaV3", missing)
        fit = SimpleNamespace(verdict=verdict, left_bytes=-5, gpu_layers=0)
        return replace(shown, choice=Choice(shown.model, None, runner, fit, Load(shown.model.path)))

    lacking = weighed("a", Verdict.FITS, Cause("program.needs_card", {}))
    assert lacking.fit_badge == ("no", "Needs another card")
    model = made(lacking, weighed("b", Verdict.NO), weighed("c", Verdict.FITS))
    model.sort(Column.FIT)
    assert names(model) == ["c", "b", "a"]
