"""Made repositories of every format, tiny, with the headers and the habits of real ones."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.fake_hub.hub import FakeHub
from tests.fake_hub.repository import Files, Repo
from tests.formats.made_gguf import LLAMA, gguf, tensor
from tests.library.made_folders import put_exl2, put_exl3, put_genai, put_mlx, put_openvino, put_plain

_SIDE = 64
_TENSOR_BYTES = _SIDE * _SIDE * 4

CARD = """---
license: apache-2.0
base_model: tiny/Tiny
tags: [text-generation]
---
# Tiny

![a picture from elsewhere](http://127.0.0.1:9/picture.png)
<script>alert("not to be run")</script>

A model made for tests.
"""

HOSTILE_NAMES = (
    "../above.gguf",
    "..\\above.gguf",
    "/absolute.gguf",
    "C:\\drive.gguf",
    "D:drive.gguf",
    "\\\\host\\share\\network.gguf",
    "inside/../../outside.gguf",
    "CON.gguf",
    "dot.gguf.",
    "stream:ads.gguf",
    "long-" + "x" * 300 + ".gguf",
)
"""Names that must never be written, each of them of a large file."""


def gguf_file(tensors: int = 2, first: int = 0, **keys: object) -> bytes:
    """A whole GGUF of a tiny llama, with its weights."""
    records = [
        tensor(f"blk.{first + at}.ffn_up.weight", (_SIDE, _SIDE), 0, at * _TENSOR_BYTES) for at in range(tensors)
    ]
    return gguf({**LLAMA, **keys}, records, bytes(tensors * _TENSOR_BYTES))


def split_gguf(stem: str, count: int) -> dict[str, bytes]:
    """A GGUF in `count` parts, of which the first alone says what the model is."""
    return {
        f"{stem}-{at + 1:05}-of-{count:05}.gguf": _part(
            at, {"split.no": at, "split.count": count, "split.tensors.count": count}
        )
        for at in range(count)
    }


def joined_gguf(name: str, count: int) -> dict[str, bytes]:
    """A GGUF cut into pieces that have to be joined before they are one."""
    whole = gguf_file(tensors=4)
    step = len(whole) // count + 1
    return {f"{name}.gguf.part{at + 1}of{count}": whole[at * step : (at + 1) * step] for at in range(count)}


def projector_file() -> bytes:
    keys = {"general.architecture": "clip", "general.type": "mmproj", "clip.has_vision_encoder": True}
    return gguf(keys, [tensor("v.patch_embd.weight", (_SIDE, _SIDE))], bytes(_TENSOR_BYTES))


def folder(put: Callable[..., int], *given: Any, below: str = "", **more: Any) -> dict[str, bytes]:
    """The files that a maker of model folders writes."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        put(root, *given, **more)
        return {
            below + path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*.*") if path.is_file()
        }


def add_all(hub: FakeHub) -> Mapping[str, Repo]:
    """One of each, by a short name."""
    return {
        "gguf": _gguf(hub),
        "split": _split(hub),
        "joined": hub.add("tiny/Parted-GGUF", {"README.md": CARD, **joined_gguf("Parted.Q6_K", 2)}, tags=("gguf",)),
        "exl2": _exl2(hub),
        "exl3": _exl3(hub),
        "exl3 in folders": _exl3_folders(hub),
        "mlx": hub.add(
            "mlx-community/Tiny-4bit",
            {"README.md": CARD, **folder(put_mlx, shards=2)},
            tags=("mlx", "safetensors"),
            library_name="mlx",
        ),
        "safetensors": hub.add("tiny/Tiny", {"README.md": CARD, **folder(put_plain)}, tags=("safetensors",)),
        "pickle": _pickle(hub),
        "openvino": hub.add("tiny/Tiny-ov", folder(put_openvino), tags=("openvino",)),
        "onnx": hub.add("tiny/Tiny-onnx", folder(put_genai), tags=("onnx",)),
    }


def add_gated(hub: FakeHub, gated: str = "manual") -> Repo:
    """One whose licence must be accepted: "hf_granted" is the token of one who has, "hf_other" of one who has not."""
    hub.tokens |= {"hf_granted": "granted", "hf_other": "other"}
    repo = hub.add(
        "tiny/Gated-GGUF", {"README.md": CARD, "gated-Q4_K_M.gguf": gguf_file()}, gated=gated, tags=("gguf",)
    )
    repo.granted.add("granted")
    return repo


def add_private(hub: FakeHub) -> Repo:
    """One that only the holder of the token "hf_member" may see."""
    hub.tokens["hf_member"] = "member"
    repo = hub.add("tiny/Private-GGUF", {"private-Q4_K_M.gguf": gguf_file()}, private=True, tags=("gguf",))
    repo.members.add("member")
    return repo


def add_hostile(hub: FakeHub) -> Repo:
    """One good file among names that must never be written."""
    files = {name: b"hostile" for name in HOSTILE_NAMES}
    return hub.add("tiny/Hostile-GGUF", {**files, "good-Q4_K_M.gguf": gguf_file()}, tags=("gguf",))


def _part(at: int, split: Mapping[str, object]) -> bytes:
    keys = {**(LLAMA if at == 0 else {}), **split}
    return gguf(keys, [tensor(f"blk.{at}.ffn_up.weight", (_SIDE, _SIDE))], bytes(_TENSOR_BYTES))


def _gguf(hub: FakeHub) -> Repo:
    files: Files = {
        "README.md": CARD,
        "Tiny-Q4_K_M.gguf": gguf_file(**{"general.file_type": 15}),
        "Tiny-Q8_0.gguf": gguf_file(tensors=3, **{"general.file_type": 7}),
        "mmproj-F16.gguf": projector_file(),
        "mmproj-BF16.gguf": projector_file(),
        "imatrix_unsloth.gguf": gguf({"general.type": "imatrix"}),
    }
    told = {"total": 3 * _SIDE * _SIDE, "architecture": "llama", "context_length": 8192}
    return hub.add("tiny/Tiny-GGUF", files, tags=("gguf", "license:apache-2.0"), downloads=1200, likes=7, gguf=told)


def _split(hub: FakeHub) -> Repo:
    files: Files = {"README.md": CARD, **split_gguf("Q4_K_M/Big-Q4_K_M", 3), **split_gguf("BF16/Big-BF16", 2)}
    return hub.add("tiny/Big-GGUF", files, tags=("gguf",), downloads=90)


def _exl2(hub: FakeHub) -> Repo:
    repo = hub.add("tiny/Tiny-exl2", {"README.md": CARD, "measurement.json": "{}"}, tags=("exl2",), likes=3)
    for branch in ("4.0bpw", "6_5"):
        repo.commit({"README.md": CARD, **folder(put_exl2)}, branch)
    return repo


def _exl3(hub: FakeHub) -> Repo:
    repo = hub.add("tiny/Tiny-exl3", {"README.md": CARD}, tags=("exl3",), likes=4)
    for branch, bits in {"3.00bpw": 3.0, "4.00bpw_H6": 4.0}.items():
        repo.commit({"README.md": CARD, **folder(put_exl3, bits)}, branch)
    return repo


def _exl3_folders(hub: FakeHub) -> Repo:
    three = folder(put_exl3, 3.0, below="3.00bpw/")
    return hub.add("tiny/Tiny-folders-EXL3", {**three, **folder(put_exl3, 5.0, below="5.00bpw/")}, tags=("exl3",))


def _pickle(hub: FakeHub) -> Repo:
    files: Files = {"config.json": '{"model_type": "llama"}', "pytorch_model.bin": b"\x80\x04" + bytes(2000)}
    repo = hub.add("tiny/Tiny-pickle", files, tags=("pytorch",))
    repo.unsafe.add("pytorch_model.bin")
    return repo
