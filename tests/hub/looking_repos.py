"""Repositories to look into, and a Looker that looks: with real headers, whole lengths, and no weights."""

from __future__ import annotations

import hashlib
import json
import re
from contextlib import contextmanager
from pathlib import Path

from tests.fake_hub import FakeHub, Made, Repo
from tests.fake_hub.examples import CARD, folder
from tests.formats.made_gguf import LLAMA, gguf
from tests.library.made_folders import put_exl2, put_exl3, put_mlx

from weighbridge.hub.access import Access
from weighbridge.hub.client import Hub
from weighbridge.hub.kept import Kept
from weighbridge.hub.looking import Looker
from weighbridge.hub.network import NetworkLog

CASES = Path(__file__).parents[1] / "data" / "fit_cases"
FILE_BYTES = {
    case["header"]: case["file_bytes"] for case in json.loads((CASES / "cases.json").read_text("utf-8"))["cases"]
}
QUANTS = (
    *("BF16", "F16", "IQ1_M", "IQ1_S", "IQ2_M", "IQ2_S", "IQ2_XS", "IQ2_XXS", "IQ3_M", "IQ3_S", "IQ3_XS", "IQ3_XXS"),
    *("IQ4_NL", "IQ4_XS", "Q2_K", "Q2_K_L", "Q3_K_L", "Q3_K_M", "Q3_K_S", "Q3_K_XL", "Q4_0", "Q4_1", "Q4_K_L"),
    *("Q4_K_M", "Q4_K_S", "Q5_K_L", "Q5_K_M", "Q5_K_S", "Q6_K", "Q6_K_L", "Q8_0", "UD-IQ1_M", "UD-IQ2_M"),
    *("UD-IQ3_XXS", "UD-Q2_K_XL", "UD-Q3_K_XL", "UD-Q4_K_XL", "UD-Q5_K_XL", "UD-Q6_K_XL", "UD-Q8_K_XL"),
)
"""Forty."""

PARAMETERS = 8_190_735_360
"""Of Qwen3-8B, as the Hub counts them."""


@contextmanager
def looking(fake: FakeHub, kept: Path | None = None, log: NetworkLog | None = None):
    """A Looker at the fake Hub, which keeps what cannot change in the folder `kept`."""
    hub = Hub(Access(lambda: fake.endpoint, lambda: None, lambda: False), log or NetworkLog())
    try:
        yield Looker(hub, Kept(kept, lambda: fake.endpoint))
    finally:
        hub.close()


def headed(name: str, size_bytes: int | None = None) -> Made:
    """A file of the recorded ones: its header, and some bytes in the place of its weights."""
    head = f"{name}.gguf.head"
    return Made(size_bytes or FILE_BYTES[head], head=(CASES / head).read_bytes())


def add_forty(fake: FakeHub, **more):
    """One model in forty quantisations, each with the header of a real one and a length of its own."""
    files = {f"Qwen3-8B-{quant}.gguf": headed("qwen3-8b", size_of(quant)) for quant in QUANTS}
    told = {"total": PARAMETERS, "architecture": "qwen3", "context_length": 40_960}
    more = {"tags": ("gguf",), "gguf": told, "pipeline_tag": "text-generation", **more}
    repo = fake.add("unsloth/Qwen3-8B-GGUF", {"README.md": CARD, **files}, **more)
    claim_hashes(repo)
    return repo


def size_of(quant: str) -> int:
    """About how long the file of a quantisation is, none as long as another."""
    number = int(re.search(r"\d+", quant)[0])
    bits = number if number > 8 else number + 0.5
    return int(PARAMETERS * bits / 8) + QUANTS.index(quant) * 4096


def claim_hashes(repo: Repo) -> None:
    """Spare the hashing of long files: the Hub says of each some hash."""
    for path, entry in repo.branches["main"].entries.items():
        if entry.large:
            repo.claim(path, sha256=hashlib.sha256(f"{repo.id} {path}".encode()).hexdigest())


def add_base(fake: FakeHub) -> tuple[str, ...]:
    """One base model in four repositories of four formats, with twelve branches in all."""
    add_forty(fake)
    fake.add("mlx-community/Qwen3-8B-4bit", folder(put_mlx, shards=2), tags=("mlx",), library_name="mlx")
    two = fake.add("tiny/Qwen3-8B-exl2", {"README.md": CARD, "measurement.json": "{}"}, tags=("exl2",))
    for bits in ("2.4", "3.0", "4.0", "5.0"):
        two.commit({"README.md": CARD, **folder(put_exl2)}, f"{bits}bpw")
    three = fake.add("tiny/Qwen3-8B-exl3", {"README.md": CARD}, tags=("exl3",))
    for bits in (2.5, 3.0, 4.0, 6.0):
        three.commit({"README.md": CARD, **folder(put_exl3, bits)}, f"{bits}bpw")
    return ("unsloth/Qwen3-8B-GGUF", "mlx-community/Qwen3-8B-4bit", "tiny/Qwen3-8B-exl2", "tiny/Qwen3-8B-exl3")


def tiny(**keys: object) -> bytes:
    """A GGUF of a tiny llama without weights."""
    return gguf({**LLAMA, **keys})


def api_calls(fake: FakeHub):
    """What counts against the Hub's limit of calls."""
    return [request.path for request in fake.requests if request.kind == "api"]


def header_bytes(fake: FakeHub) -> int:
    """How many bytes of files were sent."""
    return sum(request.sent for request in fake.requests if request.kind == "bytes")
