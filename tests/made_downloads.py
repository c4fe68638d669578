"""Downloads in every state, and what a repository offers, as made values for pictures and tests of the window."""

from __future__ import annotations

from pathlib import Path

from weighbridge.base.errors import Refused, Unreachable
from weighbridge.hub.jobs import State
from weighbridge.hub.network import NetworkLog
from weighbridge.hub.offers import Found, offers_of
from weighbridge.hub.remote import RemoteFile, Repository
from weighbridge.hub.snapshot import FileView, JobView, Snapshot

GIB = 1 << 30
MODELS = Path.home() / ".local/share/weighbridge/models"
COMMIT = "9f3c" * 10


def file(path: str, gib: float, done: float, state: State, **more: object) -> FileView:
    """A file of so many GiB, of which so much is here."""
    size = round(gib * GIB)
    return FileView(path, size, round(size * done), state, **more)  # type: ignore[arg-type]


def job(number: int, repo_id: str, label: str, state: State, *files: FileView, **more: object) -> JobView:
    """A job at its usual place."""
    told = {"revision": "main", "place": MODELS / repo_id / files[0].path, **more}
    return JobView(number, repo_id, label=label, state=state, files=files, **told)  # type: ignore[arg-type]


def jobs() -> tuple[JobView, ...]:
    """One in each state."""
    parts = [
        file(f"Qwen3-235B-A22B-Q4_K_M-0000{at}-of-00003.gguf", 26.6, done, state, bytes_s=speed)
        for at, done, state, speed in (
            (1, 1.0, State.DONE, None),
            (2, 0.58, State.RUNNING, 38.2e6),
            (3, 0.0, State.QUEUED, None),
        )
    ]
    stalled = Unreachable("hub.stalled", host="cdn-lfs.huggingface.co")
    gated = Refused(
        "hub.gated",
        repo_id="meta-llama/Llama-3.3-70B-Instruct",
        page="https://huggingface.co/meta-llama/Llama-3.3-70B-Instruct",
        host="huggingface.co",
        reason="HTTP 403",
    )
    room = Refused("disk.full", path=str(MODELS), needed_bytes=73 * GIB, free_bytes=41 * GIB)
    return (
        job(1, "Qwen/Qwen3-235B-A22B-GGUF", "Q4_K_M", State.RUNNING, *parts, bytes_s=38.2e6),
        job(
            2,
            "turboderp/Qwen3-32B-exl3",
            "4.0 bpw h6",
            State.RETRYING,
            file("model-00001-of-00002.safetensors", 8.1, 0.37, State.RETRYING),
            file("model-00002-of-00002.safetensors", 7.9, 0.0, State.QUEUED),
            revision="4.0bpw",
            attempt=3,
            retry_in_s=12.4,
            error=stalled,
        ),
        job(
            3,
            "bartowski/gemma-3-12b-it-GGUF",
            "Q4_K_M",
            State.VERIFYING,
            file("gemma-3-12b-it-Q4_K_M.gguf", 6.8, 1.0, State.VERIFYING, checked_bytes=2 * GIB),
        ),
        job(
            4,
            "mistralai/Mistral-Small-GGUF",
            "Q5_K_M",
            State.QUEUED,
            file("Mistral-Q5_K_M.gguf", 15.6, 0, State.QUEUED),
        ),
        job(5, "unsloth/Qwen3-8B-GGUF", "Q4_K_M", State.PAUSED, file("Qwen3-8B-Q4_K_M.gguf", 4.7, 0.62, State.PAUSED)),
        job(
            6,
            "deepseek-ai/DeepSeek-R1-GGUF",
            "IQ2_XXS",
            State.PAUSED,
            file("DeepSeek-R1-IQ2_XXS.gguf", 73, 0.0, State.PAUSED),
            for_room=True,
            error=room,
        ),
        job(
            7,
            "meta-llama/Llama-3.3-70B-Instruct",
            "BF16",
            State.FAILED,
            file("model-00001-of-00030.safetensors", 131.4, 0.0, State.FAILED),
            error=gated,
        ),
        job(8, "unsloth/Qwen3-0.6B-GGUF", "Q8_0", State.DONE, file("Qwen3-0.6B-Q8_0.gguf", 0.6, 1.0, State.DONE)),
        job(9, "unsloth/SmolLM3-3B-GGUF", "Q6_K", State.CANCELLED, file("SmolLM3-Q6_K.gguf", 2.4, 0, State.CANCELLED)),
    )


def snapshot() -> Snapshot:
    """All of them."""
    return Snapshot(jobs(), owner=True)


def found() -> Found:
    """A repository of many quantisations, one of them a part short."""
    sizes = {"Q8_0": 8.1, "Q6_K": 6.3, "Q5_K_M": 5.4, "Q4_K_M": 4.7, "IQ4_XS": 4.2, "Q3_K_M": 3.8, "Q2_K": 3.1}
    files = [RemoteFile(f"Qwen3-8B-{label}.gguf", round(gib * GIB), "0" * 64) for label, gib in sizes.items()]
    files.append(RemoteFile("Qwen3-8B-BF16-00001-of-00002.gguf", round(15.3 * GIB), "0" * 64))
    files.append(RemoteFile("mmproj-F16.gguf", round(0.9 * GIB), "0" * 64))
    repository = Repository("unsloth/Qwen3-8B-GGUF", "main", COMMIT, tuple(files), gated=False)
    offers = offers_of(repository)
    preferred = next(offer for offer in offers if offer.variant.label == "Q4_K_M")
    return Found(repository, offers, preferred)


def ask(log: NetworkLog) -> None:
    """Requests as a search and two downloads make them."""
    told = (
        ("huggingface.co", "search", 200, 18_204),
        ("huggingface.co", "repository", 200, 41_877),
        ("huggingface.co", "branches", 200, 803),
        ("huggingface.co", "Qwen3-8B-Q4_K_M.gguf", 200, 5_027_783_488),
        ("cdn-lfs.huggingface.co", "Qwen3-235B-A22B-Q4_K_M-00002-of-00003.gguf", 206, 16_594_000_000),
        ("huggingface.co", "repository", 403, 112),
        ("pypi.org", "package index", 200, 98_362_432),
    )
    for host, purpose, status, received in told:
        line = log.begin(host, purpose)
        line.answered(status)
        line.ended(received)
    log.begin("cdn-lfs.huggingface.co", "model-00001-of-00002.safetensors").ended(None, "hub.stalled")
    log.begin("huggingface.co", "file").answered(206)
