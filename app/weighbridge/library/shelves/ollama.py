"""Ollama: models are layers of bytes named by their hash, put together by small manifests.

`manifests/HOST/NAMESPACE/MODEL/TAG` is JSON with a list of layers: what each is (`mediaType`) and its `digest`; the
bytes are in `blobs/sha256-HEX`. A manifest comes from a server: nothing of it becomes part of a path but a digest of
exactly the right form (compare CVE-2024-37032).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from weighbridge.base.errors import BadFile
from weighbridge.base.printable import printable
from weighbridge.formats.variant import Role
from weighbridge.library.model import Helper
from weighbridge.library.rows import Row, gguf_rows, shown_name
from weighbridge.library.shelves.named import named_helper, noted
from weighbridge.library.shelves.program import Look, Program, Where, only

_OURS = "application/vnd.ollama.image."
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
_HOST, _NAMESPACE, _TAG = "registry.ollama.ai", "library", "latest"
_MODEL, _TENSORS = "model", "tensor"
_BESIDE: Mapping[str, Role] = {"projector": Role.PROJECTOR, "adapter": Role.ADAPTER}
_NOT_USED = ("messages", "params", "prompt", "system", "template")


@dataclass(frozen=True)
class Layer:
    """One layer of a manifest: `kind` is the end of its media type, `sha256` the name of its bytes."""

    kind: str
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """A model as Ollama names it, and its layers."""

    name: str
    layers: tuple[Layer, ...]

    def of(self, *kinds: str) -> tuple[Layer, ...]:
        """The layers of some kinds."""
        return tuple(layer for layer in self.layers if layer.kind in kinds)


def folders(where: Where) -> Sequence[Path]:
    """The folder that `OLLAMA_MODELS` names, the user's own, and on Linux that of Ollama's service."""
    told = where.told("OLLAMA_MODELS")
    service = Path("/usr/share/ollama/.ollama/models")
    usual = (where.home / ".ollama" / "models", *((service,) if where.platform == "linux" else ()))
    return (told, *usual) if told else usual


def within(folder: Path) -> Sequence[Path]:
    """`folder`, where models lie in it as Ollama lays them out."""
    return (folder,) if only(folder, {"blobs", "manifests"}) else ()


def rows(folder: Path, look: Look) -> Iterator[Row]:
    """The models below `folder`: those of the same bytes are one, with the names of all."""
    same: dict[str, list[Manifest]] = {}
    for manifest in _manifests(folder / "manifests", look):
        weights = manifest.of(_MODEL)
        if weights:
            same.setdefault(weights[0].sha256, []).append(manifest)
        elif manifest.of(_TENSORS):
            look.walk.skip(BadFile("ollama.tensors", name=manifest.name))
    for sha256, manifests in same.items():
        yield from _rows_of(folder / "blobs", sha256, sorted(manifests, key=_order), look)


def parse_layers(told: Mapping[str, object]) -> tuple[Layer, ...]:
    """The layers that a manifest lists. Raises BadFile: "ollama.manifest" or "ollama.digest"."""
    listed = told.get("layers")
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise BadFile("ollama.manifest")
    found = [(str(each.get("mediaType")), each.get("digest")) for each in listed]
    return tuple(Layer(kind.removeprefix(_OURS), _hex(digest)) for kind, digest in found if kind.startswith(_OURS))


def name_of(host: str, namespace: str, model: str, tag: str) -> str:
    """A model's name as `ollama ls` shows it: "llama3.2:3b", "hf.co/OWNER/NAME:Q4_K_M"."""
    place = () if (host, namespace) == (_HOST, _NAMESPACE) else (namespace,) if host == _HOST else (host, namespace)
    return shown_name(f"{'/'.join((*place, model))}:{tag}")


def _manifests(folder: Path, look: Look) -> Iterator[Manifest]:
    for file in look.walk.below(folder, bool, depth=3):
        parts = file.path.relative_to(folder).parts
        if len(parts) != 4:
            continue
        try:
            yield Manifest(name_of(*parts), parse_layers(noted(file.path)))
        except BadFile as error:
            look.walk.skip(BadFile(error.code, **error.values | dict.fromkeys(("path", "name"), str(file.path))))


def _hex(digest: object) -> str:
    found = _DIGEST.fullmatch(digest) if isinstance(digest, str) else None
    if found is None:
        raise BadFile("ollama.digest", digest=printable(str(digest))[:100])
    return found[1]


def _rows_of(blobs: Path, sha256: str, manifests: Sequence[Manifest], look: Look) -> Iterator[Row]:
    """The model whose weights have a hash, under the first of its names."""
    name, *others = names = [manifest.name for manifest in manifests]
    short = [each.removesuffix(f":{_TAG}") for each in names if each.endswith(f":{_TAG}")]
    blob = look.walk.file(_blob(blobs, sha256))
    if blob is None:
        look.walk.skip(BadFile("ollama.blob", name=name, path=str(_blob(blobs, sha256))))
        return
    for row in gguf_rows(blobs, [blob], look.headers, look.task.check):
        model = replace(
            row.model,
            id=name,
            title=name,
            companions=tuple(_helpers(blobs, manifests, look)),
            sha256s=(sha256,),
            aliases=(*others, *short),
            unused=tuple(sorted({layer.kind for manifest in manifests for layer in manifest.of(*_NOT_USED)})),
        )
        yield replace(row, model=model)


def _helpers(blobs: Path, manifests: Sequence[Manifest], look: Look) -> Iterator[Helper]:
    layers = dict.fromkeys(layer for manifest in manifests for layer in manifest.of(*_BESIDE))
    for layer in layers:
        helper = named_helper(_BESIDE[layer.kind], _blob(blobs, layer.sha256), look)
        if helper is not None:
            yield helper


def _blob(blobs: Path, sha256: str) -> Path:
    return blobs / f"sha256-{sha256}"


def _order(manifest: Manifest) -> tuple[bool, int, str]:
    """A tag of its own says more than "latest"."""
    return manifest.name.endswith(f":{_TAG}"), len(manifest.name), manifest.name


OLLAMA = Program("ollama", "Ollama", folders, rows, within)
