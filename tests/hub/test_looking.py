"""Looking into repositories over the fake Hub: what is seen, and what it costs."""

import json
import threading
from dataclasses import replace

import pytest
from tests.fake_hub import Cut, FakeHub, Status
from tests.fake_hub.examples import add_all, add_gated, folder
from tests.formats.made_gguf import LLAMA, gguf
from tests.hub.looking_repos import (
    CASES,
    PARAMETERS,
    QUANTS,
    add_base,
    add_forty,
    api_calls,
    claim_hashes,
    headed,
    header_bytes,
    looking,
    tiny,
)
from tests.library.made_folders import put_exl3, put_mlx

from weighbridge.base.errors import BadFile, Cancelled, Refused, Unreachable
from weighbridge.base.task import Task
from weighbridge.formats.config_counts import reckoned
from weighbridge.formats.gguf import read_header
from weighbridge.formats.model import model_info
from weighbridge.formats.source import BytesSource
from weighbridge.hub.access import Access
from weighbridge.hub.client import Hub
from weighbridge.hub.hits import Hit
from weighbridge.hub.kept import Kept
from weighbridge.hub.looking import Looker, Spot
from weighbridge.hub.network import NetworkLog
from weighbridge.hub.token import Token
from weighbridge.library.recognise_path import recognise_path


@pytest.fixture
def fake():
    with FakeHub() as made:
        yield made


@pytest.fixture
def looker(fake):
    with looking(fake) as made:
        yield made


def hit_of(fake, repo_id):
    repo = fake.repos[repo_id]
    return Hit(repo_id, repo.branches["main"].sha, tags=repo.model_tags, parameters=PARAMETERS, task="text-generation")


def counted_by_config(files):
    config = json.loads(files["config.json"])
    return reckoned(config)


def by_label(sight):
    return {offer.variant.label: offer for offer in sight.offers}


def test_forty_quantisations_cost_one_info_one_tree_and_one_header(fake, looker):
    add_forty(fake)
    sight = looker.look(Spot("unsloth/Qwen3-8B-GGUF"), Task())
    assert [path.partition("?")[0].count("/tree/") for path in api_calls(fake)] == [0, 1]
    assert header_bytes(fake) == 8192
    assert set(by_label(sight)) == set(QUANTS)
    assert {offer.info.layers for offer in sight.offers} == {36}
    assert {offer.info.architecture for offer in sight.offers} == {"qwen3"}
    sizes = [offer.plain.size_bytes for offer in sight.offers]
    assert sizes == sorted(sizes, reverse=True)
    assert {offer.info.parameters for offer in sight.offers} == {PARAMETERS}
    for offer in sight.offers:
        assert offer.info.quant == offer.variant.label
        assert offer.info.bits_per_weight == pytest.approx(offer.plain.size_bytes * 8 / PARAMETERS)
    assert (sight.branches, sight.unread) == ((), None)


def test_what_a_list_has_told_spares_the_info_call(fake, looker):
    add_forty(fake)
    sight = looker.look(Spot("unsloth/Qwen3-8B-GGUF", hit=hit_of(fake, "unsloth/Qwen3-8B-GGUF")), Task())
    assert len(api_calls(fake)) == 1
    assert len(sight.offers) == 40
    assert sight.offers[0].info.parameters == PARAMETERS


def test_a_second_look_costs_nothing(fake, looker):
    add_forty(fake)
    spot = Spot("unsloth/Qwen3-8B-GGUF")
    first = looker.look(spot, Task())
    before = len(fake.requests)
    assert looker.look(spot, Task()) == first
    assert looker.look(Spot(spot.repo_id, hit=hit_of(fake, spot.repo_id)), Task()).offers == first.offers
    assert len(fake.requests) == before


def test_what_cannot_change_is_kept_for_the_next_start(fake, tmp_path):
    add_base(fake)
    spots = [Spot("unsloth/Qwen3-8B-GGUF"), Spot("mlx-community/Qwen3-8B-4bit")]
    with looking(fake, tmp_path) as looker:
        first = [looker.look(spot, Task()).offers for spot in spots]
    before = len(fake.requests)
    with looking(fake, tmp_path) as looker:
        assert [looker.look(spot, Task()).offers for spot in spots] == first
    assert [("/tree/" in request.path, request.kind) for request in fake.requests[before:]] == [(False, "api")] * 2


def test_a_new_commit_is_looked_at_anew(fake, looker):
    repo = add_forty(fake)
    looker.look(Spot(repo.id), Task())
    repo.commit({f"Qwen3-8B-{quant}.gguf": None for quant in QUANTS[1:]})
    assert len(looker.look(Spot(repo.id), Task()).offers) == 40  # nobody has told of it
    assert len(looker.look(Spot(repo.id, hit=hit_of(fake, repo.id)), Task()).offers) == 1


def test_a_commit_that_is_gone_is_asked_for_anew(fake, looker):
    repo = add_forty(fake)
    gone = replace(hit_of(fake, repo.id), commit="f" * 40)
    sight = looker.look(Spot(repo.id, hit=gone), Task())
    assert (len(sight.offers), sight.repository.commit) == (40, repo.branches["main"].sha)


def test_a_base_model_of_four_repositories_and_twelve_branches(fake, looker):
    seen, to_see = [], [Spot(repo_id) for repo_id in add_base(fake)]
    while to_see:
        sight = looker.look(to_see.pop(), Task())
        seen.append(sight)
        to_see += sight.branches
    calls = api_calls(fake)
    assert len(seen) == 12
    assert len(calls) == 18  # 4 infos, 12 trees, 2 refs
    assert len([path for path in calls if path.endswith("/refs")]) == 2
    formats = [offer.variant.format for sight in seen for offer in sight.offers]
    assert {name: formats.count(name) for name in set(formats)} == {"gguf": 40, "mlx": 1, "exl2": 4, "exl3": 4}
    assert all(offer.info is not None for sight in seen for offer in sight.offers)
    branches = {sight.repository.revision for sight in seen if sight.repository.id == "tiny/Qwen3-8B-exl3"}
    assert branches == {"main", "2.5bpw", "3.0bpw", "4.0bpw", "6.0bpw"}


def test_a_gated_one_loses_no_row(fake, looker):
    repo = add_gated(fake)
    sight = looker.look(Spot(repo.id), Task())
    assert sight.repository.gated
    assert [(offer.variant.label, offer.info, offer.problem) for offer in sight.offers] == [("Q4_K_M", None, None)]
    assert sight.unread.code == "hub.gated_sign_in"
    looker.look(Spot(repo.id), Task())
    assert len([request for request in fake.requests if request.kind == "api" and "/tree/" in request.path]) == 2


def test_of_a_gated_folder_the_config_is_not_missing(fake, looker):
    fake.add("tiny/Gated-exl3", folder(put_exl3, 4.0), tags=("exl3",), gated="auto")
    sight = looker.look(Spot("tiny/Gated-exl3"), Task())
    assert [(offer.variant.format, offer.info, offer.problem) for offer in sight.offers] == [("exl3", None, None)]
    assert sight.unread.code == "hub.gated_sign_in"


def test_a_renamed_one_has_its_new_name(fake, looker):
    add_forty(fake)
    fake.rename("unsloth/Qwen3-8B-GGUF", "new/Name-GGUF")
    sight = looker.look(Spot("unsloth/Qwen3-8B-GGUF"), Task())
    assert sight.repository.id == "new/Name-GGUF"
    assert sight.offers[0].plain.repository.id == "new/Name-GGUF"
    assert sight.offers[0].info.layers == 36


def test_one_that_is_not_there(looker):
    with pytest.raises(Refused) as refused:
        looker.look(Spot("tiny/nothing"), Task())
    assert refused.value.code == "hub.private"


def test_a_header_that_lies_is_a_row_with_its_problem_and_another_tells_of_the_rest(fake, looker):
    sound, false = tiny(), b"GGUF" + b"\xff" * 60
    fake.add("tiny/Lies-GGUF", {"T-Q2_K.gguf": false, "T-Q4_K_M.gguf": sound, "T-Q8_0.gguf": sound + bytes(99)})
    offers = by_label(looker.look(Spot("tiny/Lies-GGUF"), Task()))
    assert isinstance(offers["Q2_K"].problem, BadFile)
    assert offers["Q2_K"].info is None
    assert (offers["Q4_K_M"].info.layers, offers["Q8_0"].info.layers) == (2, 2)


def test_where_no_header_can_be_read_all_rows_stay(fake, looker):
    lies = {f"T-{quant}.gguf": b"GGUF" + b"\xff" * (60 + number) for number, quant in enumerate(QUANTS[:8])}
    fake.add("tiny/Lies-GGUF", lies)
    sight = looker.look(Spot("tiny/Lies-GGUF"), Task())
    assert len(sight.offers) == 8
    assert {offer.info for offer in sight.offers} == {None}
    assert len([offer for offer in sight.offers if offer.problem]) == 3  # those that were read


def test_numbers_that_cannot_be_are_not_believed(fake, looker):
    claims = {"llama.block_count": 2_000_000_000, "llama.attention.head_count": 4_000_000_000}
    told = {"total": 5}
    fake.add("tiny/Big-GGUF", {"T-Q4_K_M.gguf": gguf({**LLAMA, **claims})}, gguf=told)
    [offer] = looker.look(Spot("tiny/Big-GGUF"), Task()).offers
    assert (offer.info.layers, offer.info.parameters, offer.info.bits_per_weight) == (None, None, None)


@pytest.mark.parametrize("packed", [26_900_000_000, 3_362_500_000])
def test_counts_of_packed_numbers_are_not_those_of_parameters(fake, looker, packed):
    files = folder(put_mlx)
    told = {"parameters": {"U32": packed, "BF16": 1000}, "total": packed + 1000}
    fake.add("mlx-community/Packed-4bit", files, tags=("mlx",), safetensors=told)
    [offer] = looker.look(Spot("mlx-community/Packed-4bit"), Task()).offers
    size = sum(len(content) for name, content in files.items() if name.endswith(".safetensors"))
    assert (offer.variant.size_bytes, offer.info.parameters) == (size, counted_by_config(files).parameters)


def test_a_long_start_is_read_up_to_64_kib(fake, looker):
    long = {**LLAMA, "general.description": "x" * 20_000}
    keys = {name: long[name] for name in sorted(long, key=lambda name: name != "general.description")}
    fake.add("tiny/Long-GGUF", {"T-Q4_K_M.gguf": gguf(keys), "T-Q8_0.gguf": gguf(keys, data=bytes(999))})
    sight = looker.look(Spot("tiny/Long-GGUF"), Task())
    assert {offer.info.layers for offer in sight.offers} == {2}
    assert 20_000 < header_bytes(fake) <= 64 << 10


def test_models_beside_each_other_have_each_its_own_header(fake, looker):
    small = {**LLAMA, "llama.block_count": 3}
    files = {
        "0.6B/model-Q4_K_M.gguf": gguf(small),
        "8B/model-Q4_K_M.gguf": gguf(LLAMA, data=bytes(99)),
        "8B/model-Q8_0.gguf": gguf(LLAMA, data=bytes(999)),
        "mtp-T-Q8_0.gguf": gguf({**LLAMA, "llama.block_count": 1}),
        "T-Q8_0.gguf": gguf({**LLAMA, "llama.block_count": 9}),
    }
    fake.add("tiny/Many-GGUF", files, gguf={"total": 10_000})
    offers = looker.look(Spot("tiny/Many-GGUF"), Task()).offers
    layers = {offer.variant.files[0].path: offer.info.layers for offer in offers}
    wanted = {"0.6B/model-Q4_K_M.gguf": 3, "8B/model-Q4_K_M.gguf": 2, "8B/model-Q8_0.gguf": 2, "T-Q8_0.gguf": 9}
    assert layers == wanted
    assert {offer.info.parameters for offer in offers} == {None}  # of which of them the Hub tells is not known


def test_sets_of_parts_are_told_by_a_whole_file_and_stay_sets(fake, looker):
    part = {**LLAMA, "split.no": 0, "split.count": 2, "split.tensors.count": 4}
    files = {
        "BF16/T-BF16-00001-of-00002.gguf": gguf(part),
        "BF16/T-BF16-00002-of-00002.gguf": gguf({"split.no": 1, "split.count": 2}),
        "T-Q4_K_M.gguf": gguf({**LLAMA, "general.file_type": 15}, data=bytes(9999)),
    }
    fake.add("tiny/Set-GGUF", files)
    offers = by_label(looker.look(Spot("tiny/Set-GGUF"), Task()))
    assert (offers["BF16"].info.split, len(offers["BF16"].plain.files)) == ((1, 2), 2)
    assert (offers["Q4_K_M"].info.split, offers["Q4_K_M"].problem) == (None, None)
    assert "general.file_type" not in offers["BF16"].info.metadata
    assert len([request for request in fake.requests if request.kind == "bytes"]) == 1


def test_each_kind_of_repository(fake, looker):
    seen = {name: looker.look(Spot(repo.id), Task()) for name, repo in add_all(fake).items()}
    assert [offer.variant.label for offer in seen["gguf"].offers] == ["Q8_0", "Q4_K_M"]  # what helps is no choice
    assert seen["gguf"].offers[0].variant.companions[0].file.name == "mmproj-BF16.gguf"
    assert [offer.problem.code for offer in seen["joined"].offers] == ["model.join_first"]
    assert [offer.problem.code for offer in seen["pickle"].offers] == ["model.pickle"]
    assert [spot.revision for spot in seen["exl2"].branches] == ["4.0bpw", "6_5"]
    assert seen["exl2"].offers == ()
    assert {offer.variant.name for offer in seen["exl3 in folders"].offers} == {"3.00bpw", "5.00bpw"}
    assert seen["mlx"].offers[0].info.format == "mlx"
    assert seen["mlx"].branches == ()


def test_too_many_requests_lose_no_row_and_are_not_remembered(fake, looker):
    add_forty(fake)
    fake.faults.next(Status(503), "Qwen3-8B-IQ1_S.gguf", on="bytes")
    fake.faults.always(Status(503), on="bytes")
    spot = Spot("unsloth/Qwen3-8B-GGUF")
    sight = looker.look(spot, Task())
    assert len(sight.offers) == 40
    assert {offer.info for offer in sight.offers} == {None}
    assert isinstance(sight.unread, Unreachable)
    assert sight.offers[0].variant.bits_per_weight == pytest.approx(sight.offers[0].plain.size_bytes * 8 / PARAMETERS)
    fake.faults.clear()
    assert looker.look(spot, Task()).offers[0].info.layers == 36


def test_a_cancel_in_the_middle_does_not_wait(fake, looker):
    repo = add_forty(fake)
    task, begun, go_on = Task(), threading.Event(), threading.Event()
    known = looker._hub.files

    def slow(*given):
        begun.set()
        go_on.wait(5)
        return known(*given)

    looker._hub.files = slow
    canceller = threading.Thread(target=lambda: (begun.wait(5), task.cancel()))
    canceller.start()
    with pytest.raises(Cancelled):
        looker.look(Spot(repo.id), task)
    assert not go_on.is_set()
    go_on.set()
    canceller.join()
    for thread in threading.enumerate():
        if thread.name == "hub request":
            thread.join()
    assert header_bytes(fake) == 0


def test_the_whole_header_of_one_choice(fake, looker, tmp_path):
    add_forty(fake)
    sight = looker.look(Spot("unsloth/Qwen3-8B-GGUF"), Task())
    offer = by_label(sight)["Q4_K_M"]
    whole = looker.look_closely(sight, offer, Task())
    content = (CASES / "qwen3-8b.gguf.head").read_bytes()
    told = read_header(BytesSource.start_of(content, offer.plain.size_bytes), full=True)
    expected = model_info(told, "Qwen3-8B-Q4_K_M")
    assert whole.info.tensors == expected.tensors
    assert whole.info.quant == "Q4_K_M"
    [head] = whole.heads
    assert (len(head.content), head.size_bytes) == (told.data_start, offer.plain.size_bytes)
    assert head.content[: len(content)] == content[: told.data_start]
    again = looker.look(sight.spot, Task())
    assert by_label(again)["Q4_K_M"].info.full
    assert by_label(again)["Q8_0"].info.parameters == whole.info.parameters


def test_whole_headers_are_kept_and_brief_ones_are_their_start(fake, tmp_path):
    add_forty(fake)
    with looking(fake, tmp_path) as looker:
        sight = looker.look(Spot("unsloth/Qwen3-8B-GGUF"), Task())
        first = looker.look_closely(sight, sight.offers[0], Task())
    before = len(fake.requests)
    with looking(fake, tmp_path) as looker:
        assert looker.look_closely(sight, sight.offers[0], Task()) == first
    assert len(fake.requests) == before


def test_the_whole_of_a_set_and_of_a_folder(fake, looker):
    add_all(fake)
    sight = looker.look(Spot("tiny/Big-GGUF"), Task())
    whole = looker.look_closely(sight, by_label(sight)["Q4_K_M"], Task())
    assert (len(whole.heads), len(whole.info.tensors), whole.info.split) == (3, 3, None)
    sight = looker.look(Spot("mlx-community/Tiny-4bit"), Task())
    whole = looker.look_closely(sight, sight.offers[0], Task())
    assert whole.info.full
    assert whole.heads == ()


def test_how_a_model_asks_to_be_talked_to(fake, looker):
    template = "{{ messages }}\n"
    keys = {**LLAMA, "tokenizer.chat_template": template}
    fake.add("tiny/Chat-GGUF", {"T-Q4_0.gguf": gguf(keys)})
    fake.add("tiny/Chat-4bit", {**folder(put_mlx), "tokenizer_config.json": json.dumps({"chat_template": template})})
    fake.add("tiny/File-4bit", {**folder(put_mlx), "chat_template.jinja": template})
    fake.add("tiny/Plain-4bit", {**folder(put_mlx), "tokenizer_config.json": "no json"})
    told = []
    for name in ("Chat-GGUF", "Chat-4bit", "File-4bit", "Plain-4bit"):
        sight = looker.look(Spot(f"tiny/{name}"), Task())
        whole = looker.look_closely(sight, sight.offers[0], Task())
        told.append((whole.chat_template, whole.info.has_chat_template))
    assert told == [(template, True)] * 3 + [(None, False)]


def test_a_folder_says_what_the_same_folder_says_on_disk(fake, looker, tmp_path):
    put_mlx(tmp_path / "there", shards=2)
    local = recognise_path(tmp_path / "there")
    fake.add("tiny/There-4bit", folder(put_mlx, shards=2), tags=("mlx",))
    sight = looker.look(Spot("tiny/There-4bit"), Task())
    whole = looker.look_closely(sight, sight.offers[0], Task())
    assert whole.info == local.info


def test_exl3_tells_its_tensors_before_a_weight_is_fetched(fake, looker):
    tensors = {"model.layers.0.q_proj": {"stored_tensors": {"q.trellis": {"shape": [4], "n_bytes": 4000}}}}
    files = folder(put_exl3, 4.0)
    weights = sum(len(content) for name, content in files.items() if name.endswith(".safetensors"))
    tensors["model.layers.0.q_proj"]["stored_tensors"]["q.trellis"]["n_bytes"] = weights
    files["quantization_config.json"] = json.dumps({"tensor_storage": tensors}).encode()
    fake.add("tiny/Stored-exl3", files, tags=("exl3",))
    [offer] = looker.look(Spot("tiny/Stored-exl3"), Task()).offers
    assert [(tensor.name, tensor.size_bytes) for tensor in offer.info.tensors] == [("q.trellis", weights)]


def test_texts_of_several_lines_are_no_header_for_an_engine(fake, looker):
    fake.add("tiny/Odd-GGUF", {"T-Q4_0.gguf": gguf({**LLAMA, "llama.rope.scaling.type": "a\nb"})})
    sight = looker.look(Spot("tiny/Odd-GGUF"), Task())
    whole = looker.look_closely(sight, sight.offers[0], Task())
    assert (whole.heads, whole.unsizable.code, whole.info.layers) == ((), "gguf.key", 2)


def test_a_choice_with_a_problem_is_not_looked_at(fake, looker):
    add_all(fake)
    sight = looker.look(Spot("tiny/Parted-GGUF"), Task())
    before = len(fake.requests)
    with pytest.raises(BadFile) as problem:
        looker.look_closely(sight, sight.offers[0], Task())
    assert (problem.value.code, len(fake.requests)) == ("model.join_first", before)


def test_of_very_many_models_in_one_repository_the_rest_is_unknown(fake, looker):
    files = {f"{number:03}/config.json": json.dumps({"model_type": "llama", "id": number}) for number in range(120)}
    files |= {f"{number:03}/model.safetensors": bytes(8) for number in range(120)}
    fake.add("tiny/Zoo", files)
    sight = looker.look(Spot("tiny/Zoo"), Task())
    assert len(sight.offers) == 120
    assert len([offer for offer in sight.offers if offer.info]) == 100
    assert sight.unread.code == "hub.too_many_files"


def test_a_table_of_tensors_that_runs_past_the_file_is_damage(fake, looker):
    repo = fake.add("tiny/Short-GGUF", {"T-Q4_K_M.gguf": headed("qwen3-0.6b", 400_000)})
    claim_hashes(repo)
    sight = looker.look(Spot(repo.id), Task())
    with pytest.raises(BadFile) as damage:
        looker.look_closely(sight, sight.offers[0], Task())
    assert damage.value.code.startswith(("gguf.", "file."))


def test_a_close_look_breaks_off_as_the_network_does(fake, looker):
    add_forty(fake)
    sight = looker.look(Spot("unsloth/Qwen3-8B-GGUF"), Task())
    fake.faults.always(Cut(4000), on="bytes")
    with pytest.raises(Unreachable):
        looker.look_closely(sight, sight.offers[0], Task())
    task = Task()
    task.cancel()
    with pytest.raises(Cancelled):
        looker.look_closely(sight, sight.offers[0], task)
    for thread in threading.enumerate():
        if thread.name == "hub request":
            thread.join()


def test_what_one_was_told_is_not_told_to_another(fake):
    """A token, another Hub, or staying offline changes what there is to be seen."""
    add_gated(fake)
    fake.tokens["hf_mine"] = "me"
    token, offline = [None], [False]
    access = Access(lambda: fake.endpoint, lambda: token[0], lambda: offline[0])
    hub = Hub(access, NetworkLog())
    looker = Looker(hub, Kept(None, access.endpoint), asker=access.asker)
    fake.add("o/open", {"a.gguf": tiny()}, tags=("gguf",))
    looker.look(Spot("o/open"), Task())
    asked = len(api_calls(fake))
    looker.look(Spot("o/open"), Task())
    assert len(api_calls(fake)) == asked
    token[0] = Token("hf_mine", "file")
    looker.look(Spot("o/open"), Task())
    assert len(api_calls(fake)) == asked + 2  # who it is for, and what there is
    offline[0] = True
    with pytest.raises(Refused):
        looker.look(Spot("o/open"), Task())
    hub.close()


def test_what_is_forgotten_is_looked_at_anew(fake, looker):
    repo = fake.add("o/open", {"a-Q4_0.gguf": tiny()}, tags=("gguf",))
    assert len(looker.look(Spot("o/open"), Task()).offers) == 1
    repo.commit({"a-Q8_0.gguf": tiny()})
    assert len(looker.look(Spot("o/open"), Task()).offers) == 1
    looker.forget(Spot("o/open"))
    assert len(looker.look(Spot("o/open"), Task()).offers) == 2
