"""Choices on the Hub as the models that they would be here."""

from dataclasses import replace
from pathlib import Path

import pytest

from weighbridge.choices.offered import offered, reference_of
from weighbridge.formats.variant import Reader, Role
from weighbridge.hub.layout import Layout, shelf_of
from weighbridge.hub.looking import Sight, Spot
from weighbridge.hub.offers import offers_of
from weighbridge.hub.remote import RemoteFile, Repository

COMMIT = "0" * 40
MODELS = Path("/models")
NAMES = (
    *("Tiny-Q4_K_M.gguf", "Tiny-Q8_0-00001-of-00002.gguf", "Tiny-Q8_0-00002-of-00002.gguf", "mmproj-F16.gguf"),
    *("con.gguf", "config.json", "4bit/config.json", "4bit/model.safetensors"),
)


def sight(revision="main", names=NAMES, repo_id="tiny/Tiny-GGUF", **more):
    files = tuple(RemoteFile(name, 100 + number, sha256=f"{number:064}") for number, name in enumerate(names))
    repository = Repository(repo_id, revision, COMMIT, files)
    return Sight(Spot(repo_id, revision), repository, offers_of(repository, Reader(json=lambda _: {})), **more)


def rows(seen, models=(), layout=Layout.FOLDER):
    return offered(seen, shelf_of(seen.repository, layout, MODELS), models)


def by_path(found):
    return {row.model.path.as_posix(): row for row in found}


def test_files_sets_and_folders_where_they_would_lie():
    found = by_path(rows(sight()))
    root = "/models/tiny/Tiny-GGUF"
    single = found[f"{root}/Tiny-Q4_K_M.gguf"].model
    assert (single.title, single.quant, single.size_bytes) == ("Tiny-Q4_K_M", "Q4_K_M", 100)
    assert single.id.startswith("hub:")
    split = found[f"{root}/Tiny-Q8_0-00001-of-00002.gguf"].model
    assert (split.title, split.size_bytes, len(split.parts)) == ("Tiny-Q8_0", 203, 2)
    assert found[f"{root}/4bit"].model.title == "Tiny-GGUF-4bit"
    assert [part.as_posix() for part in found[f"{root}/4bit"].model.parts] == [f"{root}/4bit/model.safetensors"]


def test_a_branch_has_a_folder_and_a_title_of_its_own():
    [row] = rows(sight("4.0bpw", ("config.json", "output.safetensors"), "tiny/Tiny-exl2"))
    assert (row.model.title, row.model.path.as_posix()) == ("Tiny-exl2@4.0bpw", "/models/tiny/Tiny-exl2@4.0bpw")


def test_in_the_cache_it_lies_among_the_files_of_its_commit():
    found = by_path(rows(sight(), layout=Layout.CACHE))
    assert f"/models/models--tiny--Tiny-GGUF/snapshots/{COMMIT}/Tiny-Q4_K_M.gguf" in found


def test_helpers_come_with_the_model():
    model = by_path(rows(sight()))["/models/tiny/Tiny-GGUF/Tiny-Q4_K_M.gguf"].model
    helper = model.companion(Role.PROJECTOR)
    assert (helper.path.name, helper.size_bytes) == ("mmproj-F16.gguf", 103)


def test_a_name_that_is_not_safe_is_a_row_with_its_problem():
    [bad] = [row for row in rows(sight()) if row.model.problem]
    assert bad.model.problem.code == "file.unsafe_name"
    assert bad.model.path == MODELS / "tiny" / "Tiny-GGUF"


def test_all_keys_and_ids_differ_and_stay():
    found = rows(sight(branches=(Spot("tiny/Tiny-GGUF", "other"),)))
    keys = [row.key for row in found]
    assert len(set(keys)) == len(keys) == 5
    assert [row.key for row in rows(sight(branches=(Spot("tiny/Tiny-GGUF", "other"),)))] == keys
    assert (found[-1].model, found[-1].key) == (None, "tiny/Tiny-GGUF@other")


def test_two_files_of_one_name_in_two_folders_are_two_rows():
    found = rows(sight(names=("a/T-Q4_0.gguf", "b/T-Q4_0.gguf")))
    assert len({row.key for row in found}) == 2


@pytest.mark.parametrize(("layout", "place"), [(Layout.FOLDER, "there"), (Layout.CACHE, "there")])
def test_what_is_here_by_place_and_size(layout, place):
    first = next(row for row in rows(sight(), layout=layout) if row.model.quant == "Q4_K_M").model
    mine = replace(first, id=place, sha256s=())
    other_size = replace(mine, size_bytes=mine.size_bytes + 1)
    here = {row.model.quant: row.here for row in rows(sight(), [mine], layout)}
    assert here["Q4_K_M"] is mine
    assert here["Q8_0"] is None
    assert all(row.here is None for row in rows(sight(), [other_size], layout))


def test_what_is_here_by_the_hashes_of_all_its_parts():
    split = next(row for row in rows(sight()) if row.model.quant == "Q8_0").model
    blob = replace(split, path=Path("/elsewhere/blob"), sha256s=tuple(reversed(split.sha256s)))
    one_part = replace(blob, sha256s=split.sha256s[:1])
    assert next(row for row in rows(sight(), [blob]) if row.model.quant == "Q8_0").here is blob
    assert all(row.here is None for row in rows(sight(), [one_part]))
    folder = next(row for row in rows(sight()) if row.model.format == "safetensors").model
    for repository, is_here in {"models--tiny--Tiny-GGUF": True, "models--other--Tiny": False}.items():
        cached = replace(folder, path=Path("/hub") / repository / "snapshots" / COMMIT / "4bit")
        found = next(row for row in rows(sight(), [cached]) if row.model.format == "safetensors")
        assert (found.here is cached) is is_here


def test_how_a_person_would_name_it():
    names = {reference_of(row.spot, row.offer.variant) for row in rows(sight()) if row.model.problem is None}
    assert names == {"tiny/Tiny-GGUF:Q4_K_M", "tiny/Tiny-GGUF:Q8_0", "tiny/Tiny-GGUF:4bit"}
    [row] = rows(sight("4.0bpw", ("config.json", "output.safetensors"), "tiny/Tiny-exl2"))
    assert reference_of(row.spot, row.offer.variant) == "tiny/Tiny-exl2@4.0bpw"
