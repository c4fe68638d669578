"""Folders as other programs lay them out, made for tests, and a look at whether they were left as they are."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from tests.formats.made_gguf import LLAMA, gguf

from weighbridge.base.task import Task
from weighbridge.library.full_headers import FullHeaders
from weighbridge.library.headers import Headers
from weighbridge.library.places import Root
from weighbridge.library.scan import Listing, list_models

CLIP = {"general.architecture": "clip", "general.type": "mmproj"}
LORA = {"general.type": "adapter", "general.architecture": "llama"}
OLLAMA = "application/vnd.ollama.image."


def model(number: int = 0, **keys: Any) -> bytes:
    """A GGUF file of its own for each `number`."""
    return gguf(LLAMA | {"general.version": str(number)} | keys)


def put(path: Path, content: bytes | str | dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(content) if isinstance(content, dict) else content
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def listed(path: Path, source: str) -> Listing:
    """What is found at `path`, and that nothing there was changed by looking."""
    before = as_it_is(path)
    listing = looked_at(Root(path, source))
    assert as_it_is(path) == before
    return listing


def looked_at(*roots: Root) -> Listing:
    """What is found at `roots`."""
    return list_models(roots, Task(), Headers(), FullHeaders())


def as_it_is(folder: Path) -> dict[str, object]:
    """Every file below `folder`, with its bytes, its rights and its time of change."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = path.readlink() if path.is_symlink() else path.read_bytes() if path.is_file() else None
        found[str(path)] = (status.st_mode, status.st_ino, None if path.is_dir() else status.st_mtime_ns, content)
    return found


def codes(listing: Listing) -> list[str]:
    return [error.code for error in listing.skipped]


# Ollama


def put_blob(models: Path, content: bytes) -> str:
    """A layer's bytes. Returns their digest."""
    digest = hashlib.sha256(content).hexdigest()
    put(models / "blobs" / f"sha256-{digest}", content)
    return f"sha256:{digest}"


def put_manifest(models: Path, name: str, layers: dict[str, Any] | list[Any]) -> Path:
    """`name` is HOST/NAMESPACE/MODEL/TAG; `layers` are digests by the end of their media type."""
    told = layers if isinstance(layers, list) else [layer(kind, digest) for kind, digest in layers.items()]
    return put(models / "manifests" / name, {"schemaVersion": 2, "config": {}, "layers": told})


def layer(kind: str, digest: object) -> dict[str, object]:
    return {"mediaType": OLLAMA + kind, "digest": digest, "size": 1}


# Hugging Face's cache


def put_cached(cache: Path, repository: str, commit: str, path: str, content: bytes, shared: bool = False) -> Path:
    """A file of a snapshot, a link to its blob; `shared`: that is a link itself, to the store of all repositories."""
    folder = cache / ("models--" + repository.replace("/", "--"))
    digest = hashlib.sha256(content).hexdigest()
    blob = folder / "blobs" / digest
    if shared:
        xet = hashlib.sha256(digest.encode()).hexdigest()
        store = put(cache / "blobs" / xet[:2] / xet, content)
        put(cache / "blobs" / ".huggingface-shared-blobs", "")
        link(blob, store)
    else:
        put(blob, content)
    put(folder / "refs" / "main", commit)
    return link(folder / "snapshots" / commit / path, blob)


def link(path: Path, target: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_symlink():
        path.symlink_to(os.path.relpath(target, path.parent))
    return path
