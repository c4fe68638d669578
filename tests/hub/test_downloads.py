"""Whole downloads, from what a person pastes to the model in the library, over the fake Hub."""

import hashlib
import time
from contextlib import closing

import pytest
from tests.fake_hub import Corrupt, Expired, FakeHub, Made, Portal, Slow, Stall
from tests.fake_hub.examples import HOSTILE_NAMES, add_all, add_gated, add_hostile

from weighbridge.base.database import Database
from weighbridge.base.errors import WeighbridgeError
from weighbridge.base.task import Task
from weighbridge.hub import client, pace
from weighbridge.hub.access import Access
from weighbridge.hub.client import Hub
from weighbridge.hub.job_store import JobStore
from weighbridge.hub.jobs import ENDED, State, job_of
from weighbridge.hub.layout import Layout, shelf_of
from weighbridge.hub.network import NetworkLog
from weighbridge.hub.peek import remote_reader
from weighbridge.hub.queue import Queue
from weighbridge.hub.reference import Reference, parse
from weighbridge.hub.token import Token
from weighbridge.hub.wanted import wanted
from weighbridge.library.index import Library


@pytest.fixture
def fake():
    with FakeHub() as hub:
        yield hub


class Downloads:
    """A Hub and a queue, as the window has them."""

    def __init__(self, fake, folder):
        self.token = None
        self.models = folder / "models"
        self.hub = Hub(Access(lambda: fake.endpoint, lambda: self.token, lambda: False), NetworkLog())
        self.database = Database(folder / "data" / "db")
        self.queue = Queue(self.hub, JobStore(self.database), folder / "data")

    def add(self, text, **options):
        reference = parse(text)
        repository = self.hub.repository(reference.repo_id, reference.revision or "main")
        found = wanted(repository, reference, remote_reader(self.hub, repository), **options)
        return self.queue.add(job_of(found, shelf_of(repository, Layout.FOLDER, self.models)))

    def until(self, job_id, seen):
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            view = self.queue.snapshot().job(job_id)
            if seen(view):
                return view
            time.sleep(0.005)
        raise AssertionError(f"it did not come about: {view}")

    def end(self, job_id):
        return self.until(job_id, lambda view: view.state in ENDED)

    def close(self):
        self.queue.close()
        self.database.close()
        self.hub.close()


@pytest.fixture
def downloads(fake, tmp_path):
    with closing(Downloads(fake, tmp_path)) as made:
        yield made


MODELS = {
    "tiny/Tiny-GGUF": ("gguf", "Q4_K_M"),
    "tiny/Tiny-GGUF:Q8_0": ("gguf", "Q8_0"),
    "tiny/Big-GGUF:BF16": ("gguf", "BF16"),
    "https://huggingface.co/tiny/Tiny-exl2/tree/6_5": ("exl2", None),
    "tiny/Tiny-exl3@4.00bpw_H6": ("exl3", None),
    "tiny/Tiny-folders-EXL3:5.00bpw": ("exl3", None),
    "mlx-community/Tiny-4bit": ("mlx", None),
    "tiny/Tiny": ("safetensors", None),
    "tiny/Tiny-ov": ("openvino", None),
    "tiny/Tiny-onnx": ("onnx", None),
}


@pytest.mark.parametrize("text", MODELS)
def test_a_model_of_each_kind_comes_whole_and_is_in_the_library(fake, downloads, text):
    add_all(fake)
    view = downloads.end(downloads.add(text))
    assert view.state is State.DONE
    (model,) = Library([downloads.models]).scan()
    form, quant = MODELS[text]
    assert (model.format, model.problem) == (form, None)
    assert quant in (None, model.quant)
    names = [path.name for path in downloads.models.rglob("*") if path.is_file()]
    assert not [name for name in names if ".part" in name or name.endswith((".py", ".md", ".gitattributes"))]


def test_with_the_file_for_pictures(fake, downloads):
    add_all(fake)
    view = downloads.end(downloads.add("tiny/Tiny-GGUF:Q8_0", with_projector=True))
    assert [file.path for file in view.files] == ["Tiny-Q8_0.gguf", "mmproj-BF16.gguf"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("tiny/Tiny-pickle", "model.pickle"),
        ("tiny/Parted-GGUF", "model.join_first"),
        ("tiny/Tiny-exl3", "model.other_branches"),
    ],
)
def test_what_is_not_fetched(fake, downloads, text, code):
    add_all(fake)
    with pytest.raises(WeighbridgeError) as caught:
        downloads.add(text)
    assert caught.value.code == code


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_names_are_refused_before_anything_is_asked_or_made(fake, downloads, name):
    add_hostile(fake)
    repository = downloads.hub.repository("tiny/Hostile-GGUF", "main")
    before = len(fake.requests)
    with pytest.raises(WeighbridgeError):
        wanted(repository, Reference("tiny/Hostile-GGUF", file=name))
    assert len(fake.requests) == before
    assert not downloads.models.exists()
    assert downloads.end(downloads.add("tiny/Hostile-GGUF")).state is State.DONE
    files = [str(path.relative_to(downloads.models)) for path in downloads.models.rglob("*") if path.is_file()]
    assert files == ["tiny/Hostile-GGUF/good-Q4_K_M.gguf"]


def test_a_licence_that_is_accepted_later(fake, downloads):
    add_gated(fake)
    job_id = downloads.add("tiny/Gated-GGUF")
    assert downloads.end(job_id).error.code == "hub.gated_sign_in"
    downloads.token = Token("hf_other", "file")
    downloads.queue.retry(job_id)
    assert downloads.until(job_id, lambda view: view.error and view.error.code == "hub.gated").state is State.FAILED
    fake.repos["tiny/Gated-GGUF"].granted.add("other")
    downloads.queue.retry(job_id)
    assert downloads.end(job_id).state is State.DONE


CONTENT = Made(3_000_000, seed=4)


def large(fake):
    fake.add("o/r", {"m-Q8_0.gguf": CONTENT})


def require_right(downloads):
    body = (downloads.models / "o/r/m-Q8_0.gguf").read_bytes()
    right = hashlib.sha256()
    for piece in CONTENT.pieces(0, CONTENT.size):
        right.update(piece)
    assert hashlib.sha256(body).hexdigest() == right.hexdigest()


def starts(fake):
    return [each.headers.get("range", "bytes=0-") for each in fake.requests if each.kind == "bytes"]


def test_a_silent_connection_is_seen_told_and_left(fake, downloads, monkeypatch):
    monkeypatch.setattr(client, "STALL_S", 0.2)
    monkeypatch.setattr(pace, "FIRST_WAIT_S", 0.3)
    large(fake)
    fake.faults.next(Stall(1_000_000))
    job_id = downloads.add("o/r")
    told = downloads.until(job_id, lambda view: view.state is State.RETRYING)
    assert (told.error.code, told.done_bytes) == ("hub.stalled", 1_000_000)
    assert downloads.end(job_id).state is State.DONE
    assert starts(fake) == ["bytes=0-", "bytes=1000000-"]
    require_right(downloads)


def test_an_address_that_expires_costs_a_new_one_and_no_bytes(fake, downloads):
    large(fake)
    fake.faults.next(Stall(2_000_000, 0.3))
    fake.faults.next(Expired())
    job_id = downloads.add("o/r")
    downloads.until(job_id, lambda view: view.done_bytes >= 1_000_000)
    downloads.queue.pause(job_id)
    fake.expire_addresses()
    downloads.queue.resume(job_id)
    assert downloads.end(job_id).state is State.DONE
    require_right(downloads)


def test_a_network_that_goes_away_and_comes_back(fake, downloads):
    large(fake)
    fake.faults.next(Slow(2_000_000))
    job_id = downloads.add("o/r")
    downloads.until(job_id, lambda view: view.done_bytes > 0)
    with fake.away():
        assert downloads.until(job_id, lambda view: view.state is State.RETRYING).error.code == "hub.unreachable"
    assert downloads.end(job_id).state is State.DONE
    require_right(downloads)


def test_a_web_page_instead_of_the_file_is_not_written(fake, downloads):
    large(fake)
    fake.faults.next(Portal(), times=2)
    assert downloads.end(downloads.add("o/r")).state is State.DONE
    require_right(downloads)


def test_a_byte_that_is_always_wrong_is_told(fake, downloads):
    large(fake)
    fake.faults.always(Corrupt(1_234_567))
    assert downloads.end(downloads.add("o/r")).error.code == "hub.corrupt"
    assert not [path for path in downloads.models.rglob("*") if path.is_file()]


def test_a_hash_of_the_hubs_that_is_none_is_never_used(fake, downloads):
    large(fake)
    fake.repos["o/r"].claim("m-Q8_0.gguf", sha256="../../x")
    with pytest.raises(WeighbridgeError):
        downloads.hub.repository("o/r", "main", Task())
