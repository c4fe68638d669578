import hashlib
import os
from pathlib import Path

import pytest
from tests.library.shelves.made_shelves import (
    CLIP,
    LORA,
    codes,
    layer,
    listed,
    looked_at,
    model,
    put,
    put_blob,
    put_manifest,
)

from weighbridge.base.errors import BadFile
from weighbridge.formats.architectures import Kind
from weighbridge.formats.variant import Role
from weighbridge.library.index import Library
from weighbridge.library.places import Root
from weighbridge.library.shelves.ollama import OLLAMA, name_of, parse_layers
from weighbridge.library.shelves.program import Where

LIBRARY = "registry.ollama.ai/library"


@pytest.fixture
def models(tmp_path):
    folder = tmp_path / "ollama"
    (folder / "blobs").mkdir(parents=True)
    (folder / "manifests").mkdir()
    return folder


def one(folder):
    listing = listed(folder, "ollama")
    assert listing.skipped == ()
    (found,) = listing.models
    return found


def test_a_model_is_its_blob_under_ollamas_name(models):
    digest = put_blob(models, model())
    put_manifest(models, f"{LIBRARY}/llama3.2/3b", {"model": digest})
    found = one(models)
    assert (found.id, found.title, found.source, found.format) == ("llama3.2:3b", "llama3.2:3b", "ollama", "gguf")
    assert found.path == models / "blobs" / digest.replace(":", "-")
    assert found.parts == (found.path,)
    assert (found.quant, found.problem, found.size_bytes) == ("Q4_K_M", None, len(model()))
    assert found.sha256s == (digest.removeprefix("sha256:"),)
    assert found.info.context_length == 8192


def test_names_are_as_ollama_shows_them():
    assert name_of("registry.ollama.ai", "library", "llama3.2", "3b") == "llama3.2:3b"
    assert name_of("registry.ollama.ai", "ann", "tiny", "latest") == "ann/tiny:latest"
    assert name_of("hf.co", "ann", "Tiny-GGUF", "Q4_K_M") == "hf.co/ann/Tiny-GGUF:Q4_K_M"
    assert name_of("hf.co", "ann", "a\x1b[31m", "b") == "hf.co/ann/a\ufffd[31m:b"


def test_what_is_loaded_beside_it_and_what_is_not_used(models):
    layers = {
        "model": put_blob(models, model()),
        "projector": put_blob(models, model(**CLIP)),
        "adapter": put_blob(models, model(**LORA)),
        "template": put_blob(models, b"{{ .Prompt }}"),
        "params": put_blob(models, b"{}"),
        "system": put_blob(models, b"You are a parrot."),
        "license": put_blob(models, b"MIT"),
    }
    put_manifest(models, f"{LIBRARY}/parrot/latest", layers)
    found = one(models)
    assert [(helper.role, helper.path.name) for helper in found.companions] == [
        (Role.PROJECTOR, layers["projector"].replace(":", "-")),
        (Role.ADAPTER, layers["adapter"].replace(":", "-")),
    ]
    assert found.unused == ("params", "system", "template")


def test_a_helper_that_is_no_gguf_file_is_left_out(models):
    put_manifest(
        models,
        f"{LIBRARY}/m/1b",
        {"model": put_blob(models, model()), "adapter": put_blob(models, b"ggla" + bytes(20))},
    )
    assert one(models).companions == ()


def test_two_names_of_the_same_bytes_are_one_model_that_both_lead_to(models):
    digest = put_blob(models, model())
    put_manifest(models, f"{LIBRARY}/llama3.2/latest", {"model": digest})
    put_manifest(models, f"{LIBRARY}/llama3.2/3b", {"model": digest})
    assert one(models).id == "llama3.2:3b"
    library = Library([Root(models, "ollama")])
    library.scan()
    for name in ("llama3.2:3b", "llama3.2:latest", "LLAMA3.2"):
        assert library.resolve(name).id == "llama3.2:3b"


def test_a_blob_that_is_no_gguf_file_is_a_row_with_its_problem(models):
    put_manifest(models, f"{LIBRARY}/m/1b", {"model": put_blob(models, b"PK\x03\x04")})
    (found,) = listed(models, "ollama").models
    assert (found.id, found.problem.code) == ("m:1b", "file.not_gguf")


def test_what_a_model_is_for_is_known_before_it_is_loaded(models):
    put_manifest(models, f"{LIBRARY}/f/1", {"model": put_blob(models, model(**{"general.architecture": "flux"}))})
    put_manifest(models, f"{LIBRARY}/b/1", {"model": put_blob(models, model(**{"general.architecture": "bert"}))})
    assert [(found.id, found.kind) for found in listed(models, "ollama").models] == [
        ("b:1", Kind.EMBEDDING),
        ("f:1", Kind.IMAGE),
    ]


def test_weights_that_are_missing_are_told_with_the_name(models):
    put_manifest(models, f"{LIBRARY}/gone/7b", {"model": f"sha256:{'a' * 64}"})
    listing = listed(models, "ollama")
    assert (listing.models, codes(listing)) == ((), ["ollama.blob"])
    assert listing.skipped[0].values["name"] == "gone:7b"


def test_models_kept_tensor_by_tensor_are_told_and_those_of_the_cloud_are_nothing(models):
    put_manifest(models, f"{LIBRARY}/mlx/1b", [layer("tensor", f"sha256:{'b' * 64}")])
    put_manifest(models, f"{LIBRARY}/cloud/480b", {})
    listing = listed(models, "ollama")
    assert (listing.models, codes(listing), listing.skipped[0].values) == ((), ["ollama.tensors"], {"name": "mlx:1b"})


HEX = hashlib.sha256(b"x").hexdigest()


@pytest.mark.parametrize(
    "digest",
    [
        "sha256:../../../outside",
        "sha256:" + "../" * 21 + "x",
        f"sha256:{HEX[:63]}",
        f"sha256:{HEX}0",
        f"sha256:{HEX.upper()}",
        f"sha256:{HEX}\n",
        f"sha256-{HEX}",
        HEX,
        f"sha512:{HEX}",
        f" sha256:{HEX}",
        "sha256:" + "\u0661" * 64,
        "/etc/passwd",
        "",
        None,
        7,
        ["sha256", HEX],
    ],
)
@pytest.mark.parametrize("kind", ["model", "projector", "template"])
def test_a_digest_of_any_other_form_leads_nowhere(models, digest, kind, monkeypatch):
    put(models.parent / "outside", model())
    put_manifest(models, f"{LIBRARY}/m/1b", [layer("model", put_blob(models, model())), layer(kind, digest)])
    opened = []
    watched = os.open
    monkeypatch.setattr("os.open", lambda path, *rest: opened.append(Path(path)) or watched(path, *rest))
    listing = looked_at(Root(models, "ollama"))
    assert (listing.models, codes(listing)) == ((), ["ollama.digest"])
    assert {path.parent for path in opened} == {models / "manifests" / LIBRARY / "m"}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{}",
        b'{"layers": 7}',
        b'{"layers": [7]}',
        b"\xff",
        b"[" * 100_000,
        b'{"layers": [' + b" " * (2 << 20),
    ],
)
def test_a_manifest_that_cannot_be_read_is_told_and_the_others_still_list(models, content):
    put(models / "manifests" / LIBRARY / "bad" / "1b", content)
    put_manifest(models, f"{LIBRARY}/good/1b", {"model": put_blob(models, model())})
    listing = listed(models, "ollama")
    assert [found.id for found in listing.models] == ["good:1b"]
    assert len(listing.skipped) == 1


def test_files_elsewhere_below_manifests_are_none(models):
    digest = put_blob(models, model())
    for name in ("stray", "a/b/c", "v/w/x/y/z"):
        put_manifest(models, name, {"model": digest})
    assert listed(models, "ollama").models == ()


def test_layers_are_told_by_their_media_type():
    told = {"layers": [layer("model", f"sha256:{HEX}"), {"mediaType": "text/plain", "digest": "x"}]}
    assert [(each.kind, each.sha256) for each in parse_layers(told)] == [("model", HEX)]
    with pytest.raises(BadFile):
        parse_layers({"layers": None})


def test_a_folder_of_the_user_that_is_ollamas_is_read_as_such(models):
    put_manifest(models, f"{LIBRARY}/m/1b", {"model": put_blob(models, model())})
    (found,) = listed(models, "added").models
    assert (found.id, found.source) == ("m:1b", "ollama")
    put(models / "mine.gguf", model(1))
    assert [(found.id, found.source) for found in listed(models, "added").models] == [("mine", "added")]


def test_a_folder_that_may_not_be_read_is_told(models, monkeypatch):
    def refused(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("weighbridge.library.visit.os.scandir", refused)
    listing = looked_at(Root(models, "ollama"))
    assert codes(listing) == ["library.closed"]
    assert listing.skipped[0].values == {"program": "Ollama", "path": str(models), "reason": "Permission denied"}
    assert listing.searched == ()


HOME = Path("/home/ann")


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {}, [HOME / ".ollama/models", Path("/usr/share/ollama/.ollama/models")]),
        ("darwin", {}, [HOME / ".ollama/models"]),
        ("win32", {}, [HOME / ".ollama/models"]),
        ("darwin", {"OLLAMA_MODELS": "/big/ollama"}, [Path("/big/ollama"), HOME / ".ollama/models"]),
        ("darwin", {"OLLAMA_MODELS": "~/o"}, [HOME / "o", HOME / ".ollama/models"]),
        ("darwin", {"OLLAMA_MODELS": ""}, [HOME / ".ollama/models"]),
        ("darwin", {"OLLAMA_MODELS": "models"}, [HOME / ".ollama/models"]),
    ],
)
def test_where_it_keeps_models(platform, environment, expected):
    assert list(OLLAMA.folders(Where(environment, HOME, platform))) == expected
