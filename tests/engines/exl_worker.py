"""The real worker over the libraries that stand in for those of ExLlama: a model in a folder, a process, its log."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import httpx2

from weighbridge.running.readiness import free_port
from weighbridge_engines.api import KEY_VARIABLE, Load
from weighbridge_engines.catalogue import catalogue

STANDIN = Path(__file__).parent / "exl_standin"
TEMPLATE = "{{ bos_token }}{% for message in messages %}{{ message.role }}: {{ message.content }} {% endfor %}"
KEY = "key-of-a-test"
PATIENCE_S = 20.0


def model_in(folder, **script):
    """A model's folder whose answers are as `script` says."""
    folder.mkdir(parents=True, exist_ok=True)
    architecture = script.pop("architecture", "LlamaForCausalLM")
    config = {"architectures": [architecture], "max_position_embeddings": 2048, "standin": script}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "model.safetensors").write_bytes((2).to_bytes(8, "little") + b"{}")
    (folder / "tokenizer.json").write_text("{}")
    told = {"bos_token": {"content": "<begin>"}, "eos_token": "<end>", "chat_template": TEMPLATE}
    (folder / "tokenizer_config.json").write_text(json.dumps(told))
    return folder


def environment(**more):
    here = {
        "PYTHONPATH": str(STANDIN),
        "STANDIN_CUDA_HOME": "/toolkit",
        "PYTORCH_NVCC": "nvcc",
        "CC": "cc",
        KEY_VARIABLE: KEY,
    }
    return {**os.environ, **here, **more}


class Served:
    """One worker. `client` speaks to its port."""

    def __init__(self, engine_id, process, port, log):
        self.engine, self.process, self._log = catalogue()[engine_id], process, log
        self.client = httpx2.Client(
            base_url=f"http://127.0.0.1:{port}", headers={"Authorization": f"Bearer {KEY}"}, timeout=PATIENCE_S
        )

    def log(self):
        return self._log.read_text(encoding="utf-8").splitlines()

    def heard(self, name):
        """What the library was asked, in order."""
        lead = f"standin: {name} "
        return [json.loads(line[len(lead) :]) for line in self.log() if line.startswith(lead)]

    def reported(self):
        return [told for line in self.log() if (told := dict(self.engine.report(line)))]

    def until(self, met):
        """Wait until `met()`; the worker may have ended by then."""
        end_s = time.monotonic() + PATIENCE_S
        while not met():
            assert time.monotonic() < end_s, "\n".join(self.log()[-20:])
            time.sleep(0.02)

    def ended(self):
        return self.process.poll() is not None

    def diagnosed(self):
        self.until(self.ended)
        return self.engine.diagnose(self.log(), self.process.returncode)

    def ask(self, text="Hello there", **more):
        return self.client.post("/v1/chat/completions", json=body(text, **more))

    def asking(self, text="Hello there", **more):
        return self.client.stream("POST", "/v1/chat/completions", json=body(text, stream=True, **more))

    def _healthy(self):
        try:
            return self.ended() or self.client.get("/health").status_code == 200
        except httpx2.TransportError:
            return False


def body(text, **more):
    return {"messages": [{"role": "user", "content": text}], **more}


def events(response):
    return [json.loads(line[6:]) for line in response.iter_lines() if line.startswith("data: {")]


@contextmanager
def serving(engine_id, folder, into, **load):
    """A worker that has loaded the model in `folder`, or has ended. Its log goes to a file in `into`."""
    more = load.pop("environment", {})
    port, log = free_port(), into / "log"
    asked = Load(str(folder), alias="made", **load)
    argv = [sys.executable, "-P", "-m", "weighbridge_engines.worker", engine_id, "--port", str(port)]
    argv += ["--load", json.dumps(asked.as_json())]
    with log.open("w") as out:
        process = subprocess.Popen(argv, stdout=out, stderr=subprocess.STDOUT, env=environment(**more))
    served = Served(engine_id, process, port, log)
    try:
        served.until(served._healthy)
        yield served
    finally:
        served.client.close()
        process.kill()
        process.wait()
