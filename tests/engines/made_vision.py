"""A small projector for llama.cpp with random weights, and pictures, both made byte by byte.

It is of LLaVA's kind: one layer that looks at a square of 56 pixels in patches of 14, so that a picture is 16 tokens.
"""

import base64
import math
import random
import struct
import zlib

from tests.formats.made_gguf import gguf, tensor

SIDE, PATCH, WIDTH, INNER, HEADS = 56, 14, 64, 128, 2
TOKENS = (SIDE // PATCH) ** 2
"""How many tokens a picture is."""

ALIGNMENT = 32


def keys(projected, side):
    return {
        "general.architecture": "clip",
        "general.type": "mmproj",
        "general.name": "Tiny eyes",
        "clip.projector_type": "mlp",
        "clip.has_vision_encoder": True,
        "clip.use_gelu": True,
        "clip.vision.image_size": side,
        "clip.vision.patch_size": PATCH,
        "clip.vision.embedding_length": WIDTH,
        "clip.vision.feed_forward_length": INNER,
        "clip.vision.block_count": 2,
        "clip.vision.attention.head_count": HEADS,
        "clip.vision.attention.layer_norm_epsilon": 1e-5,
        "clip.vision.projection_dim": projected,
        "clip.vision.image_mean": [0.5, 0.5, 0.5],
        "clip.vision.image_std": [0.5, 0.5, 0.5],
    }


def shapes(projected, side):
    """The tensors by name. The last of the two layers is there and not used, as in LLaVA."""
    found = {
        "v.patch_embd.weight": (PATCH, PATCH, 3, WIDTH),
        "v.position_embd.weight": (WIDTH, (side // PATCH) ** 2),
        "mm.0.weight": (WIDTH, WIDTH),
        "mm.0.bias": (WIDTH,),
        "mm.2.weight": (WIDTH, projected),
        "mm.2.bias": (projected,),
    }
    for layer in range(2):
        for name in ("attn_q", "attn_k", "attn_v", "attn_out"):
            found[f"v.blk.{layer}.{name}.weight"] = (WIDTH, WIDTH)
        for name in ("ln1", "ln2"):
            found |= {f"v.blk.{layer}.{name}.weight": (WIDTH,), f"v.blk.{layer}.{name}.bias": (WIDTH,)}
        found[f"v.blk.{layer}.ffn_up.weight"] = (WIDTH, INNER)
        found[f"v.blk.{layer}.ffn_down.weight"] = (INNER, WIDTH)
    return found


def projector(path, projected, side=SIDE, **changes):
    """The file at `path`, for a model whose embeddings are `projected` wide. `changes` are of its keys."""
    chance = random.Random(1)
    records, data = [], b""
    for name, shape in shapes(projected, side).items():
        records.append(tensor(name, shape, 0, len(data)))
        count = math.prod(shape)
        numbers = struct.pack(f"<{count}f", *(chance.gauss(0, 0.2) for _ in range(count)))
        data += numbers + bytes(-len(numbers) % ALIGNMENT)
    path.write_bytes(gguf({**keys(projected, side), **changes}, records, data))
    return path


def png(width=64, height=64, colour=(200, 30, 30)):
    """A picture of one colour, with a darker lower half."""
    rows = [bytes(shade // (1 + (row > height // 2)) for shade in colour) * width for row in range(height)]
    body = zlib.compress(b"".join(b"\0" + row for row in rows))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")


def data_url(picture, kind="png"):
    return f"data:image/{kind};base64,{base64.b64encode(picture).decode()}"


def image_part(picture):
    """A part of a message."""
    return {"type": "image_url", "image_url": {"url": data_url(picture)}}


def _chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
