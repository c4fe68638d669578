"""Ask a llama-server program where it would put each part of a model, without a GPU and without the model's weights.

    python -m tests.benchmarks.offload_truth BIN HEADERS WANTED > CASES

BIN is the folder of a build with the RPC back end (`llama-server`, `ggml-rpc-server`), HEADERS that of the headers,
NAME.gguf.head each; a model that is not there is one of `tests.model_zoo`. WANTED is a JSON list of settings: name, id,
n_layer, and what differs from the defaults of `setting`. Each GPU is an RPC server of this machine, which refuses
nothing; the program is ended as soon as it has told its table, before it loads.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from tests.model_zoo import latent, recurrent, windowed
from tests.model_zoo.engine import sparse_file

from weighbridge.formats.gguf import read_header
from weighbridge.formats.source import BytesSource

MOST_GPUS = 3
PATIENCE_S = 30.0
_ALWAYS = "-np 1 -ub 512 -fa on -t 1 -v --no-warmup --no-repack -lm none -fit on"
_ROW = re.compile(r"\|\s+- (RPC\d+|Host)\b.*?\d+ =\s*(\d+) \+\s*(\d+) \+\s*(\d+)")


@cache
def zoo() -> dict[str, tuple[bytes, int]]:
    """The header and the file's length of each made model, by name."""
    made = (model for kind in (latent, recurrent, windowed) for model in kind.models())
    return {model.name: (model.header(), model.file_bytes()) for model in made}


def told(
    program: Sequence[str], wanted: Mapping[str, Any], file: Path, environment: Mapping[str, str]
) -> dict[str, Any]:
    """One case: the setting, and what the program told of it, in whole MiB."""
    asked = ["-m", str(file), *wanted["args"].split(), *_ALWAYS.split()]
    rows: dict[str, list[int]] = {}
    with subprocess.Popen(
        [*program, *asked], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=dict(environment)
    ) as child:
        for line in child.stdout or ():
            if found := _ROW.search(line):
                rows[found[1]] = [int(found[number]) for number in (2, 3, 4)]
                if found[1] == "Host":
                    break
        child.kill()
    if "Host" not in rows:
        raise SystemExit(f"no table for {wanted['name']} {wanted['args']}")
    return {"name": wanted["name"], "setting": wanted["setting"], "devices": _devices(rows, wanted)}


def _devices(rows: Mapping[str, Sequence[int]], wanted: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    names = {"Host": "Host"} | {f"RPC{number}": f"GPU{number}" for number in range(wanted["setting"]["gpus"])}
    if len(rows) != len(names):
        raise SystemExit(f"other devices than asked for: {sorted(rows)}")
    return {names[row]: dict(zip(("model", "context", "compute"), parts, strict=True)) for row, parts in rows.items()}


@contextmanager
def gpus(program: Path, environment: Mapping[str, str]) -> Iterator[list[str]]:
    """So many RPC servers as cards, by their addresses."""
    ports = [_free_port() for _ in range(MOST_GPUS)]
    children = [
        subprocess.Popen(
            [str(program), "-d", "CPU", "-p", str(port)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=dict(environment),
        )
        for port in ports
    ]
    try:
        for port in ports:
            _wait_for(port)
        yield [f"127.0.0.1:{port}" for port in ports]
    finally:
        for child in children:
            child.kill()
            child.wait()


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _wait_for(port: int) -> None:
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise SystemExit(f"no RPC server at port {port}")


def setting(wanted: Mapping[str, Any]) -> dict[str, Any]:
    """What was asked for with all its defaults, in the form of the cases."""
    return {
        "id": wanted["id"],
        "gpus": wanted.get("gpus", 1),
        "n_layer": wanted["n_layer"],
        "n_gpu_layers": wanted.get("n_gpu_layers", 999),
        "tensor_split": wanted.get("tensor_split"),
        "cache_type": wanted.get("cache_type", "f16"),
        "n_cpu_moe": wanted.get("n_cpu_moe"),
        "n_ctx": wanted.get("n_ctx", 8192),
        "n_ubatch": 512,
    }


def arguments(asked: Mapping[str, Any]) -> str:
    """The same for the program."""
    parts = [f"-c {asked['n_ctx']} -ngl {asked['n_gpu_layers']}"]
    parts += [f"-ts {asked['tensor_split']}"] if asked["tensor_split"] else []
    parts += [f"-ctk {asked['cache_type']} -ctv {asked['cache_type']}"] if asked["cache_type"] != "f16" else []
    if asked["n_cpu_moe"] == "all":
        parts.append("--cpu-moe")
    elif asked["n_cpu_moe"]:
        parts.append(f"--n-cpu-moe {asked['n_cpu_moe']}")
    return " ".join(parts)


def header_of(name: str, headers: Path, made: Mapping[str, tuple[bytes, int]]) -> tuple[bytes, int]:
    """A model's header, and how long its file would be; one in the folder comes before a made one of the same name."""
    path = headers / f"{name}.gguf.head"
    if not path.exists():
        return made[name]
    read = read_header(BytesSource.start_of(path.read_bytes()), full=True)
    ends = [tensor.offset + (tensor.size_bytes or 0) for tensor in read.tensors or ()]
    return path.read_bytes(), (read.data_start or 0) + max(ends)


def main() -> int:
    """Print all cases as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="BIN")
    parser.add_argument("headers", type=Path, metavar="HEADERS")
    parser.add_argument("wanted", type=Path, metavar="WANTED")
    asked = parser.parse_args()
    environment = {**os.environ, "LD_LIBRARY_PATH": str(asked.folder), "GGML_VK_VISIBLE_DEVICES": ""}
    made, found = zoo(), []
    with gpus(asked.folder / "ggml-rpc-server", environment) as addresses:
        for each in json.loads(asked.wanted.read_text(encoding="utf-8")):
            own = setting(each)
            program = [str(asked.folder / "llama-server"), "--rpc", ",".join(addresses[: own["gpus"]])]
            program += ["--port", str(_free_port())]
            wanted = {"name": each["name"], "setting": own, "args": arguments(own)}
            with sparse_file(*header_of(each["name"], asked.headers, made)) as file:
                found.append(told(program, wanted, file, environment))
                print(each["name"], each["id"], found[-1]["devices"], file=sys.stderr)
    lines = ",\n".join(json.dumps(case) for case in found)
    print(f'{{"cases": [\n{lines}\n]}}')
    return 0


if __name__ == "__main__":
    sys.exit(main())
