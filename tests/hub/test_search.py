"""Searching at a Hub of our own: what is asked, what is taken of the answer, and what an answer costs."""

import pytest
from tests.fake_hub import FakeHub, Headers, Portal, RateLimited, Reset, Status, Told
from tests.fake_hub.searched import BASE, PARAMETERS, add_family

from weighbridge.base.errors import Cancelled, Refused, Unreachable
from weighbridge.base.task import Task
from weighbridge.hub.access import Access
from weighbridge.hub.client import Hub
from weighbridge.hub.hits import Query, Sort
from weighbridge.hub.network import NetworkLog
from weighbridge.hub.search import MOST_PAGES, PAGE, parameters_of
from weighbridge.hub.token import Token

GGUF = "unsloth/Qwen3-8B-GGUF"
DAY_S = 86_400


@pytest.fixture
def fake():
    with FakeHub() as made:
        add_family(made)
        yield made


class Asking:
    """The program's Hub over a fake one, and what the user has set."""

    def __init__(self, fake):
        self.offline, self.token = False, None
        self.log = NetworkLog()
        access = Access(lambda: fake.endpoint, lambda: self.token, lambda: self.offline)
        self.hub = Hub(access, self.log)


@pytest.fixture
def asking(fake):
    made = Asking(fake)
    yield made
    made.hub.close()


@pytest.fixture
def hub(asking):
    return asking.hub


def ids(hub, most=100, **told):
    return [hit.id for hit in hub.search(Query(**told), most)]


def test_one_search_is_one_call(fake, asking):
    hits = asking.hub.search(Query("qwen3"))
    assert [hit.downloads for hit in hits] == [7000, 6000, 5000, 4000, 3000, 2000, 1000]
    assert [request.method for request in fake.requests] == ["GET"]
    assert fake.requests[0].query["search"] == ["qwen3"]
    assert [request.purpose for request in asking.log.requests] == ["search"]


def test_what_a_hit_tells(fake, hub):
    hit = hub.search(Query(format="gguf", base=BASE))[0]
    commit = fake.repos[GGUF].branches["main"]
    assert (hit.id, hit.owner, hit.commit, hit.base, hit.license) == (GGUF, "unsloth", commit.sha, BASE, "apache-2.0")
    assert (hit.downloads, hit.likes, hit.gated, hit.private, hit.task) == (6000, 300, False, False, "text-generation")
    assert (hit.parameters, hit.context_length, hit.architecture) == (PARAMETERS, 40_960, "qwen3")
    assert (hit.formats, hit.files) == (("gguf",), ("Qwen3-8B-GGUF.gguf", "README.md"))
    assert 1_767_225_600 <= hit.changed_s < 1_767_225_600 + 366 * DAY_S


def test_packed_numbers_are_not_taken_for_parameters(hub):
    told = {hit.id: hit.parameters for hit in hub.search(Query("qwen3"))}
    assert told["mlx-community/Qwen3-8B-4bit"] is None
    assert told["turboderp/Qwen3-8B-exl3"] is None
    assert told[BASE] == PARAMETERS
    assert told["someone/Qwen3-0.6B-GGUF"] == 596_049_920


@pytest.mark.parametrize("packed", [26_900_000_000, 3_362_500_000])
def test_whatever_the_hub_means_by_its_total_of_packed_numbers(fake, hub, packed):
    told = {"parameters": {"U32": packed}, "total": packed}
    fake.add("o/Big-4bit", {"x": b"x"}, tags=("mlx",), safetensors=told)
    (hit,) = hub.search(Query("big"))
    assert hit.parameters is None


def test_every_filter(hub):
    assert ids(hub, words="qwen3 embedding") == ["Qwen/Qwen3-Embedding-0.6B"]
    assert ids(hub, format="mlx") == ["mlx-community/Qwen3-8B-4bit"]
    assert ids(hub, format="gguf", base=BASE) == [GGUF]
    assert ids(hub, base=BASE) == [GGUF, "mlx-community/Qwen3-8B-4bit", "turboderp/Qwen3-8B-exl3"]
    assert ids(hub, author="someone", license="mit") == ["someone/Qwen3-0.6B-GGUF"]
    assert ids(hub, task="feature-extraction") == ["Qwen/Qwen3-Embedding-0.6B"]
    assert ids(hub, format="gguf", most_parameters=10**9) == ["someone/Qwen3-0.6B-GGUF"]
    assert ids(hub, format="gguf", least_parameters=6 * 10**9, most_parameters=14 * 10**9, author="unsloth") == [GGUF]
    assert ids(hub, words="nothing of that name") == []
    assert ids(hub, sort=Sort.LIKES)[0] == GGUF


@pytest.mark.parametrize("sort", Sort)
def test_every_order_is_one_that_the_hub_knows(hub, sort):
    assert len(ids(hub, sort=sort)) == 7


@pytest.mark.parametrize(
    ("least", "most", "told"),
    [
        (6 * 10**9, 14 * 10**9, "min:6B,max:14B"),
        (None, 1_500_000_000, "max:1500M"),
        (0, None, "min:0"),
        (494_032_768, 494_032_768, "min:494032K,max:494033K"),
    ],
)
def test_bounds_in_words_of_the_hub(least, most, told):
    query = Query(least_parameters=least, most_parameters=most)
    assert parameters_of(query, 10)["num_parameters"] == told


def test_the_same_is_asked_as_huggingface_hub_asks(fake, hub):
    from huggingface_hub import HfApi, close_session

    api = HfApi(endpoint=fake.endpoint, token=False)
    for theirs, ours in (("trending_score", Sort.TRENDING), ("last_modified", Sort.CHANGED), ("created_at", Sort.MADE)):
        bounds = {"least_parameters": 6 * 10**9, "most_parameters": 14 * 10**9}
        hub.search(Query("qwen3", "gguf", "text-generation", "unsloth", "apache-2.0", BASE, sort=ours, **bounds), 30)
        mine = fake.requests[-1].query
        tags = ["gguf", "license:apache-2.0", f"base_model:quantized:{BASE}"]
        more = {"author": "unsloth", "pipeline_tag": "text-generation", "num_parameters": "min:6B,max:14B"}
        found = api.list_models(search="qwen3", filter=tags, sort=theirs, limit=30, expand=mine["expand"], **more)
        assert [model.id for model in found] == [GGUF]
        assert fake.requests[-1].query == mine
    close_session()


def test_blanks_are_no_part_of_a_query():
    assert parameters_of(Query("  qwen3 \t 8b\n"), 10)["search"] == "qwen3 8b"
    assert set(parameters_of(Query("   "), 10**9)) == {"sort", "limit", "expand"}
    assert parameters_of(Query(), 10**9)["limit"] == PAGE


@pytest.mark.parametrize("told", [{"words": "x" * 201}, {"author": "a\x00b"}, {"license": "m\u202eit"}])
def test_what_cannot_be_seen_is_not_asked(fake, hub, told):
    with pytest.raises(Refused) as caught:
        hub.search(Query(**told))
    assert caught.value.code == "hub.bad_name"
    assert fake.requests == []


def test_words_are_words_whatever_they_hold(fake, hub):
    assert ids(hub, words="qwen3&limit=1#../..?%00") == []
    assert fake.requests[0].query["limit"] == ["100"]


def test_no_more_than_was_wanted(fake, hub):
    assert len(ids(hub, most=3)) == 3
    assert fake.requests[0].query["limit"] == ["3"]
    assert len(fake.requests) == 1


def test_all_pages_where_one_does_not_hold_what_is_wanted(fake, hub):
    fake.models_per_page = 3
    assert [hit.downloads for hit in hub.search(Query("qwen3"), 7)] == [7000, 6000, 5000, 4000, 3000, 2000, 1000]
    assert len(fake.requests) == 3
    assert len(ids(hub, most=3)) == 3
    assert len(fake.requests) == 4


def test_a_search_can_be_cancelled_between_two_pages(fake, hub):
    fake.models_per_page = 3
    task = Task()

    class Once(Task):
        def check(self):
            task.check()
            task.cancel()

    with pytest.raises(Cancelled):
        hub.search(Query("qwen3"), 7, Once())
    assert len(fake.requests) == 1


def good(**more):
    return {"id": "o/good", "sha": "a" * 40, **more}


@pytest.mark.parametrize(
    "row",
    [
        7,
        None,
        [],
        {},
        {"id": "no-owner"},
        {"id": "../up"},
        {"id": "a/../b"},
        {"id": "o/.hidden"},
        {"id": ["o/r"]},
        {"id": "o/" + "r" * 97},
        {"id": "o/r", "sha": "main"},
        {"id": "o/r", "sha": 7},
        {"id": "o/r", "lastModified": "yesterday"},
        {"id": "o/r", "siblings": [{"name": "x"}]},
        {"id": "o/r", "siblings": 7},
        {"id": "o/r", "safetensors": {"total": 7}},
    ],
)
def test_an_entry_that_makes_no_sense_is_left_out(fake, hub, row):
    fake.faults.next(Told([row, good()]), on="api")
    assert ids(hub) == ["o/good"]
    fake.faults.next(Told([row]), on="api")
    with pytest.raises(Unreachable) as caught:
        hub.search(Query())
    assert caught.value.code == "hub.nonsense"


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ({"downloads": "many"}, "downloads"),
        ({"downloads": -1}, "downloads"),
        ({"likes": True}, "likes"),
        ({"likes": 1.5}, "likes"),
        ({"pipeline_tag": 7}, "task"),
        ({"gguf": "x"}, "parameters"),
        ({"gguf": {"total": "8B"}}, "parameters"),
        ({"gguf": {"total": 10**30}}, "parameters"),
        ({"gguf": {"context_length": -5}}, "context_length"),
        ({"gguf": {"architecture": {}}}, "architecture"),
        ({"lastModified": None}, "changed_s"),
    ],
)
def test_a_value_that_makes_no_sense_is_untold(fake, hub, told, name):
    fake.faults.next(Told([good(**told)]), on="api")
    (hit,) = hub.search(Query())
    assert getattr(hit, name) is None


def test_tags_and_names_are_bounded(fake, hub):
    tags = [f"tag-{number}" for number in range(5_000)] + ["x" * 100_000]
    fake.faults.next(
        Told([good(tags=[7, None, "y" * 100_000, *tags], siblings=[{"rfilename": "z" * 9_999}])]), on="api"
    )
    (hit,) = hub.search(Query())
    assert len(hit.tags) <= 1_000
    assert max(map(len, (*hit.tags, *hit.files))) <= 400


def test_the_same_repository_twice_is_one(fake, hub):
    fake.faults.next(Told([good(likes=1), good(likes=2)]), on="api")
    assert [hit.likes for hit in hub.search(Query())] == [1]


@pytest.mark.parametrize("text", ["", "{", '{"error": 1}', "7", '"o/r"', "[" * 100_000])
def test_an_answer_that_is_no_list(fake, hub, text):
    fake.faults.next(Told(text=text), on="api")
    with pytest.raises(Unreachable) as caught:
        hub.search(Query())
    assert caught.value.code == "hub.nonsense"


def test_an_empty_list_is_an_answer(fake, hub):
    fake.faults.next(Told([]), on="api")
    assert hub.search(Query()) == ()


def test_pages_without_end_end(fake, hub):
    for number in range(MOST_PAGES + 5):
        fake.add(f"o/r{number}", {"x": b"x"})
    fake.models_per_page = 1
    fake.faults.always(Told([]), on="api")
    assert hub.search(Query()) == ()
    assert len(fake.requests) == MOST_PAGES


@pytest.mark.parametrize("link", ["http://127.0.0.1:9/api/models", "https://elsewhere.example/api/models"])
def test_a_next_page_elsewhere_is_not_asked(fake, hub, link):
    fake.faults.next(Headers({"Link": f'<{link}>; rel="next"'}), on="api")
    with pytest.raises(Unreachable) as caught:
        hub.search(Query("qwen3"))
    assert caught.value.code == "hub.nonsense"
    assert len(fake.requests) == 1


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (Status(503), "hub.server"),
        (Status(404), "hub.nonsense"),
        (Status(400), "hub.server"),
        (Portal(), "hub.portal"),
        (Reset(-1), "hub.unreachable"),
    ],
)
def test_answers_that_are_none(fake, hub, fault, code):
    fake.faults.next(fault, on="api")
    with pytest.raises(Unreachable) as caught:
        hub.search(Query("qwen3"))
    assert caught.value.code == code
    assert len(fake.requests) == 1
    assert len(hub.search(Query("qwen3"))) == 7


def test_too_many_calls_are_told_with_the_time_to_wait(fake, hub):
    fake.faults.next(RateLimited(17, "api"), on="api")
    with pytest.raises(Unreachable) as caught:
        hub.search(Query("qwen3"))
    assert (caught.value.code, caught.value.values["seconds"]) == ("hub.rate_limit", 17)
    assert 16 < hub.allowances.wait_s() <= 17


def test_offline_nothing_is_asked(fake, asking):
    asking.offline = True
    with pytest.raises(Refused) as caught:
        asking.hub.search(Query("qwen3"))
    assert caught.value.code == "hub.offline"
    assert fake.requests == []


def test_the_network_is_gone(fake, hub):
    with fake.away(), pytest.raises(Unreachable) as caught:
        hub.search(Query("qwen3"))
    assert caught.value.code == "hub.unreachable"


def test_a_private_repository_is_found_by_those_who_may_see_it(fake, asking):
    fake.tokens["hf_member"] = "member"
    fake.add("o/qwen3-mine", {"x": b"x"}, private=True).members.add("member")
    assert "o/qwen3-mine" not in ids(asking.hub, words="qwen3")
    asking.token = Token("hf_member", "file")
    (hit,) = asking.hub.search(Query("mine"))
    assert (hit.id, hit.private) == ("o/qwen3-mine", True)


def test_a_token_that_is_not_taken(asking):
    asking.token = Token("hf_wrong", "file")
    with pytest.raises(Refused) as caught:
        asking.hub.search(Query("qwen3"))
    assert caught.value.code == "hub.token"
