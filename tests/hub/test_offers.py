"""What is offered of each kind of repository, over the fake Hub."""

import threading

import pytest
from tests.fake_hub import FakeHub
from tests.fake_hub.examples import add_all, add_gated

from weighbridge.base.errors import Cancelled, Refused, Unreachable
from weighbridge.base.task import Task
from weighbridge.hub.access import Access
from weighbridge.hub.client import Hub
from weighbridge.hub.network import NetworkLog
from weighbridge.hub.offers import find, offers_of
from weighbridge.hub.reference import parse
from weighbridge.hub.remote import RemoteFile, Repository


@pytest.fixture
def fake():
    with FakeHub() as made:
        add_all(made)
        yield made


@pytest.fixture
def hub(fake):
    made = Hub(Access(lambda: fake.endpoint, lambda: None, lambda: False), NetworkLog())
    yield made
    made.close()


def found(hub, text):
    return find(hub, parse(text), Task())


def labels(offers):
    return [offer.variant.label for offer in offers]


def test_a_repository_of_ggufs_offers_each_the_default_is_meant(fake, hub):
    made = found(hub, "tiny/Tiny-GGUF")
    assert labels(made.offers) == ["Q8_0", "Q4_K_M"]
    assert made.preferred.variant.label == "Q4_K_M"
    sizes = {entry.path: entry.size for entry in fake.repos["tiny/Tiny-GGUF"].at("main").entries.values()}
    assert made.preferred.plain.size_bytes == sizes["Tiny-Q4_K_M.gguf"]
    assert {file.path for file in made.preferred.seeing.files} == {"Tiny-Q4_K_M.gguf", "mmproj-BF16.gguf"}


def test_a_named_one_is_meant_and_must_be_there(hub):
    assert found(hub, "tiny/Tiny-GGUF:q8_0").preferred.variant.label == "Q8_0"
    with pytest.raises(Refused) as refused:
        found(hub, "tiny/Tiny-GGUF:Q2_K")
    assert refused.value.code == "hub.no_quant"
    assert "Q4_K_M" in refused.value.values["there"]


def test_parts_are_one_offer(hub):
    made = found(hub, "tiny/Big-GGUF")
    assert [(offer.variant.label, len(offer.plain.files)) for offer in made.offers] == [("Q4_K_M", 3), ("BF16", 2)]


def test_where_all_lies_on_branches_these_are_told(hub):
    made = found(hub, "tiny/Tiny-exl2")
    assert not any(offer.plain for offer in made.offers)
    assert set(made.branches) == {"4.0bpw", "6_5"}
    on_branch = found(hub, "tiny/Tiny-exl2@4.0bpw")
    assert [offer.variant.format for offer in on_branch.offers] == ["exl2"]
    assert on_branch.preferred.plain.repository.revision == "4.0bpw"


def test_of_folders_beside_each_other_the_user_chooses(hub):
    made = found(hub, "tiny/Tiny-folders-EXL3")
    assert len(made.offers) == 2
    assert made.preferred is None


def test_a_pickle_is_offered_with_its_problem_alone(hub):
    made = found(hub, "tiny/Tiny-pickle")
    assert [(offer.plain, offer.problem.code) for offer in made.offers] == [(None, "model.pickle")]


def test_pictures_are_not_for_chat_and_cannot_be_fetched():
    names = ("model_index.json", "unet/config.json", "unet/diffusion_pytorch_model.safetensors")
    repository = Repository("o/pictures", "main", "0" * 40, tuple(RemoteFile(name, 5) for name in names))
    offers = offers_of(repository)
    assert offers
    assert not any(offer.plain for offer in offers)


def test_a_gated_one_can_be_looked_at(fake, hub):
    add_gated(fake)
    made = found(hub, "tiny/Gated-GGUF")
    assert made.repository.gated
    assert labels(made.offers) == ["Q4_K_M"]


def test_a_closed_hub_asks_nothing_more(fake, hub):
    found(hub, "tiny/Tiny-GGUF")
    hub.close()
    before = len(fake.requests)
    with pytest.raises(Unreachable):
        hub.repository("tiny/Tiny-GGUF")
    assert len(fake.requests) == before


def test_a_cancel_does_not_wait_for_the_hub():
    asked = []
    begun, go_on, task = threading.Event(), threading.Event(), Task()

    class Slow:
        def repository(self, *_):
            begun.set()
            go_on.wait(5)
            return Repository("owner/name", "main", "0" * 40)

        def branches(self, _):
            asked.append("branches")

    def cancel():
        begun.wait(5)
        task.cancel()

    canceller = threading.Thread(target=cancel)
    canceller.start()
    with pytest.raises(Cancelled):
        find(Slow(), parse("owner/name"), task)
    assert not go_on.is_set()
    go_on.set()
    canceller.join()
    for thread in threading.enumerate():
        if thread.name == "hub request":
            thread.join()
    assert asked == []
