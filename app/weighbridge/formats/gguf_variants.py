"""The GGUF models among some files: single files, sets of parts, files cut in pieces, and what helps them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from weighbridge.base.errors import BadFile, WeighbridgeError
from weighbridge.formats.architectures import Kind
from weighbridge.formats.companions import KIND_OF_ROLE, Helped, companions_of, is_imatrix_file, role_of
from weighbridge.formats.kinds import kind_of_hub
from weighbridge.formats.model import ModelInfo
from weighbridge.formats.pairing import pairing
from weighbridge.formats.quant import REMOVED, believed, quant_of_header, quant_of_name
from weighbridge.formats.split import Part, Piece, part_of_name, piece_of_name
from weighbridge.formats.variant import Companion, File, Hints, Reader, Role, Variant

FORMAT = "gguf"
ENDING = ".gguf"
MAX_NAMED = 3
_MODELS_OF_THEIR_OWN = frozenset({Role.ADAPTER, Role.DRAFT})
_BIG_ENDIAN = re.compile(r"(?:^|[-_.])(?:big-endian|be)$", re.IGNORECASE)


def is_gguf(path: str) -> bool:
    """Whether a file belongs to a GGUF model by its name, be it whole, a part, a piece, or a helper."""
    name = path.rpartition("/")[2]
    return name.lower().endswith(ENDING) or piece_of_name(name) is not None or is_imatrix_file(name)


def gguf_variants(files: Iterable[File], reader: Reader, hints: Hints) -> tuple[Variant, ...]:
    """The models among `files`, in the order of their paths, each with what helps it: by name, and not against headers.

    Adapters and drafts that help none of them are told, too, by their kind; all helpers where there is nothing else.
    """
    groups = [_Group(key, members, reader) for key, members in _grouped(files).items()]
    helpers = [Companion(group.role, group.members[0]) for group in groups if group.role is not None]
    models = [group for group in groups if group.role is None]
    told = {group.members[0]: group.info for group in groups if group.role is not None}
    near = companions_of([Helped(group.folder, group.key.stem) for group in models], helpers)
    found = [_suiting(mine, group.info, told) for group, mine in zip(models, near, strict=True)]
    variants = [replace(group.variant(hints), companions=mine) for group, mine in zip(models, found, strict=True)]
    used = {companion.file for variant in variants for companion in variant.companions}
    alone = _MODELS_OF_THEIR_OWN if variants else frozenset(Role)
    left = [group for group in groups if group.role in alone and group.members[0] not in used and group.is_gguf]
    return (*variants, *(group.variant(hints) for group in left))


def gguf_label(stem: str, folder: str, info: ModelInfo | None, bits: float | None) -> tuple[str | None, bool]:
    """The label of a model named `stem` in a folder named `folder`, and whether it is guessed."""
    by_name = quant_of_name(stem) or quant_of_name(folder)
    return believed(by_name, quant_of_header(info.metadata) if info else None, bits)


def _suiting(
    near: Sequence[Companion], info: ModelInfo | None, told: Mapping[File, ModelInfo | None]
) -> tuple[Companion, ...]:
    """Of the companions near a model those whose headers do not speak against it; of each role those first that do so
    for it.
    """
    known = {each: own for each in near if (own := told[each.file]) is not None}
    found = {each: pairing(each.role, own, info).suits for each, own in known.items()} if info is not None else {}
    order = list(Role)
    left = [each for each in near if found.get(each) is not False]
    return tuple(sorted(left, key=lambda each: (order.index(each.role), not found.get(each))))


@dataclass(frozen=True)
class _Key:
    """What files of one model share. `count` is how many parts or pieces there are; None untold or for a whole file."""

    folder: str
    stem: str
    count: int | None = None
    pieces: bool = False
    whole: str = ""


def _grouped(files: Iterable[File]) -> Mapping[_Key, list[File]]:
    """Files by model: a set by folder, stem and count; others alone. In the order of their names."""
    groups: dict[_Key, list[File]] = {}
    for file in sorted(files, key=lambda file: (file.folder, file.name.casefold(), file.name)):
        groups.setdefault(_key(file), []).append(file)
    return groups


def _key(file: File) -> _Key:
    piece = piece_of_name(file.name)
    if piece is not None:
        return _Key(file.folder, piece.stem, piece.count, pieces=True)
    part = part_of_name(file.stem)
    if part is not None and file.name.lower().endswith(ENDING):
        return _Key(file.folder, part.stem, part.count)
    return _Key(file.folder, file.stem, whole=file.name)


class _Group:
    """The files of one model, and what the header of the first of them says."""

    def __init__(self, key: _Key, members: list[File], reader: Reader) -> None:
        self.key = key
        self.members = members
        self._told = None if key.pieces or is_imatrix_file(members[0].name) else reader.header(members[0].path)
        self.info = self._told if isinstance(self._told, ModelInfo) else None
        self.role = self._role()

    @property
    def folder(self) -> str:
        """Where the files lie."""
        return self.key.folder

    @property
    def is_gguf(self) -> bool:
        """Whether it is a GGUF file at all: an importance matrix need not be."""
        return not is_imatrix_file(self.members[0].name)

    def variant(self, hints: Hints) -> Variant:
        """The model, without its companions."""
        made = Variant(FORMAT, self.key.stem, files=tuple(self.members), kind=self._kind(hints))
        bits = self._bits(made, hints)
        label, guessed = gguf_label(self.key.stem, self.folder.rpartition("/")[2], self.info, bits)
        return replace(made, label=label, guessed=guessed, bits_per_weight=bits, problem=self._problem(label))

    def _role(self) -> Role | None:
        if is_imatrix_file(self.members[0].name):
            return Role.IMATRIX
        kind = self.info.kind if self.info else None
        is_told = kind is not None and (kind is not Kind.UNKNOWN or (self.info and self.info.architecture is not None))
        return role_of(self.key.stem, kind if is_told else None)

    def _kind(self, hints: Hints) -> Kind:
        if self.info is not None:
            return self.info.kind
        return KIND_OF_ROLE[self.role] if self.role else kind_of_hub(hints.pipeline, hints.tags)

    def _bits(self, made: Variant, hints: Hints) -> float | None:
        if self.info is not None and self.info.bits_per_weight is not None:
            return self.info.bits_per_weight
        told = self.info.parameters if self.info else None
        parameters, size = told or hints.parameters, made.size_bytes
        return size * 8 / parameters if parameters and size is not None else None

    def _problem(self, label: str | None) -> WeighbridgeError | None:
        if self.key.pieces:
            return _pieces_problem(self.key, [file.name for file in self.members])
        numbers = {part.number for file in self.members if (part := part_of_name(file.stem))}
        if self.key.count is not None and len(numbers) < self.key.count:
            return _missing_parts(self.members, numbers)
        if isinstance(self._told, BadFile):
            return self._told
        if self.info is None and _BIG_ENDIAN.search(self.key.stem):
            return BadFile("gguf.big_endian")
        if label is not None and REMOVED.fullmatch(label):
            return BadFile("gguf.removed_type", type=label)
        return _misnamed(self.info, part_of_name(self.members[0].stem) if self.key.count else None)


def _pieces_problem(key: _Key, names: Sequence[str]) -> WeighbridgeError:
    """Pieces must be joined; where one is missing, that comes first."""
    pieces = [piece for name in names if (piece := piece_of_name(name))]
    here = {piece.number for piece in pieces}
    count = key.count or max(here)
    missing = [number for number in range(1, count + 1) if number not in here]
    if missing:
        named = ", ".join(_piece_name(names[0], pieces[0], number) for number in missing[:MAX_NAMED])
        return BadFile("model.part_missing", missing=named, here=len(here), count=count)
    return BadFile("model.join_first", name=f"{key.stem}{ENDING}", first=names[0], count=count)


def _piece_name(name: str, piece: Piece, number: int) -> str:
    """The name of piece `number`, after the pattern of another one's `name`."""
    if piece.count is None:
        return f"{name[:-1]}{chr(ord('a') + number - 1)}"
    ending = name[len(piece.stem) :]
    return piece.stem + re.sub(r"\d+", lambda found: f"{number:0{len(found[0])}}", ending, count=1)


def _missing_parts(members: Sequence[File], here: set[int]) -> WeighbridgeError:
    first = part_of_name(members[0].stem)
    assert first is not None
    missing = [number for number in range(1, first.count + 1) if number not in here][:MAX_NAMED]
    named = ", ".join(f"{first.name(number)}{ENDING}" for number in missing)
    return BadFile("model.part_missing", missing=named, here=len(here), count=first.count)


def _misnamed(info: ModelInfo | None, part: Part | None) -> WeighbridgeError | None:
    """A part must bear the number that its header tells: engines find the others by it."""
    if info is None or info.split is None or (part is not None and info.split == (part.number, part.count)):
        return None
    return BadFile("model.part_renamed", number=info.split[0], count=info.split[1])
