"""What both stand-ins share: a machine that reads prompts and writes words as a model's `config.json` says.

Under "standin" there: "answer" (words), "pause_s" before each word, "load" (words of what is raised while it loads),
"step" (the same, after the first word of an answer), "warm" (what fails of a warm-up), "modules" and "cached" (tokens
of each prompt that are known). The words "hang: " are a step without an end, "signal: 11" a crash.
"""

import json
import os
import sys
import time
from pathlib import Path

DEFAULTS = {"answer": ["One", " two", " three", "."], "pause_s": 0.0, "load": "", "step": "", "warm": "",
            "modules": 3, "cached": 0}  # fmt: skip
END = 0
"""The token that ends an answer."""

FIRST_WORD = 100


class Tensor:
    """Numbers in one row, as the libraries give them."""

    def __init__(self, numbers):
        self.numbers = list(numbers)
        self.shape = (1, len(self.numbers))

    def __getitem__(self, row):
        return self

    def tolist(self):
        return self.numbers


def script_of(folder):
    told = json.loads((Path(folder) / "config.json").read_text(encoding="utf-8"))
    return told, {**DEFAULTS, **told.get("standin", {})}


def raise_for(words):
    """Raise what `words` say: the type, a colon, the text."""
    if words:
        name, _, text = words.partition(": ")
        if name == "signal":
            os.kill(os.getpid(), int(text))
        if name in ("hang", "signal"):
            time.sleep(600)
        raise type(name, (RuntimeError,), {})(text)


def heard(name, value):
    """Tell the test what was asked of the library."""
    sys.stderr.write(f"standin: {name} {json.dumps(value, sort_keys=True, default=str)}\n")
    sys.stderr.flush()


class Words:
    """A tokenizer: each word a token, named by its place; "<end>" ends."""

    bos_token, eos_token, eos_token_id = "<begin>", "<end>", END

    def __init__(self, script):
        self.answer = script["answer"]

    def numbers(self, text):
        return Tensor(range(len(text.split())))

    def get_id_to_piece_list(self, include_special_tokens=False):
        return ["<end>", *[""] * (FIRST_WORD - 1), *self.answer]


class Work:
    """A generator: one word of each active job a step."""

    def __init__(self, script, slots):
        self.script, self.slots = script, slots
        self.active_jobs, self.pending_jobs, self.serial = [], [], 0

    def enqueue(self, job):
        job.serial_number = self.serial
        self.serial += 1
        self.pending_jobs.append(job)
        return job.serial_number

    def num_remaining_jobs(self):
        return len(self.active_jobs) + len(self.pending_jobs)

    def cancel(self, job):
        heard("cancelled", job.serial_number)
        for jobs in (self.active_jobs, self.pending_jobs):
            if job in jobs:
                jobs.remove(job)

    def iterate(self):
        results = []
        while self.pending_jobs and len(self.active_jobs) < self.slots:
            job = self.pending_jobs.pop(0)
            self.active_jobs.append(job)
            results.append(self.told(job, "started"))
        time.sleep(self.script["pause_s"])
        for job in list(self.active_jobs):
            results.append(self.step(job))
            if results[-1]["eos"]:
                self.active_jobs.remove(job)
        return results

    def told(self, job, stage, **more):
        return {"job": job, "serial": job.serial_number, "stage": stage, "eos": False, **more}

    def step(self, job):
        if job.written is None:
            job.written, job.cached_tokens = 0, min(self.script["cached"], job.prompt)
            return self.told(job, "prefill", curr_progress=job.prompt - 1, max_progress=job.prompt - 1)
        if job.written:
            raise_for(self.script["step"])
        number, words = job.written, self.script["answer"]
        if number == len(words):
            held = {"held": {"text": "<end>"}, "eos_triggering_token_str": "<end>"}
            return self.ended(job, number + 1, eos_reason="stop_token", **held)
        job.written += 1
        text, token = words[number], FIRST_WORD + number
        if text.strip() in job.stops:
            return self.ended(job, number + 1, eos_reason="stop_string")
        if job.written == job.most:
            return self.ended(job, job.written, eos_reason="max_new_tokens", text=text, token_ids=Tensor([token]))
        chances = job.chances(token)
        return self.told(job, "streaming", text=text, token_ids=Tensor([token]), **chances)

    def ended(self, job, count, **more):
        times = {"time_enqueued": 0.0, "time_prefill": 0.5, "time_generate": 0.25}
        told = {"new_tokens": count, "prompt_tokens": job.prompt, "cached_tokens": job.cached_tokens, **times}
        return self.told(job, "streaming", **{"eos": True, **told, **more})


class Asked:
    """A job."""

    cached_pages = cached_tokens = 0
    serial_number = None

    def __init__(self, tokens, most, stops):
        self.prompt, self.most, self.written = tokens.shape[-1], most, None
        self.stops = [stop for stop in stops if isinstance(stop, str)]

    def chances(self, token):
        return {}
