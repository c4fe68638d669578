"""How long the remembered list of a large library takes to be read: `python -m tests.benchmarks.recall [MODELS]`.

The processor's time, in milliseconds, with the collector of garbage off, as the window has it while it starts.
"""

from __future__ import annotations

import gc
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from tests.formats.made_gguf import LLAMA, gguf

from weighbridge.library.index import Library
from weighbridge.library.model import key_of
from weighbridge.library.remembered import Remembered
from weighbridge.library.scan import Listing


def made(folder: Path, count: int) -> Listing:
    """A listing of so many models, each with a header like that of a real one."""
    (folder / "a.gguf").write_bytes(gguf(LLAMA))
    (model,) = Library([folder]).scan()
    more = {f"general.base_model.{number}.name": "x" * 40 for number in range(10)}
    models = []
    for number in range(count):
        path = Path(f"/home/someone/models/owner{number % 50}/Repository-{number // 3}/Model-{number}.Q4_K_M.gguf")
        info = replace(model.info, metadata={**model.info.metadata, **more, "general.name": f"Model {number}"})
        models.append(replace(model, id=path.stem, title=path.stem, path=path, parts=(path,), info=info))
    return Listing(tuple(models), (), {key_of(each): f"{number:032x}" for number, each in enumerate(models)})


def main() -> None:
    """Keep one, read it a few times, and print the best."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        listing, path = made(folder, count), folder / "listing.kept"
        begun = time.process_time()
        Remembered(path).keep(listing)
        keeping = time.process_time() - begun
        gc.disable()
        reading = []
        for _ in range(5):
            begun = time.process_time()
            read = Remembered(path).read()
            reading.append(time.process_time() - begun)
            assert read is not None and len(read.models) == count
        print(f"{count} models, {path.stat().st_size / 2**20:.1f} MiB")
        print(f"kept in {1e3 * keeping:.0f} ms, read in {1e3 * min(reading):.0f} ms")


if __name__ == "__main__":
    main()
