"""The real huggingface_hub takes the fake Hub for one: search, trees, files, gates, tokens, Xet, TLS."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest
from huggingface_hub import HfApi, close_session, get_hf_file_metadata, hf_hub_url
from huggingface_hub.errors import (
    BadRequestError,
    GatedRepoError,
    HfHubHTTPError,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.utils import parse_ratelimit_headers
from tests.fake_hub import (
    Cut,
    FakeHub,
    Headers,
    Made,
    git_sha1,
    sha256,
)
from tests.fake_hub.content import content_of, read
from tests.fake_hub.examples import add_all, add_gated, add_hostile, add_private
from tests.fake_hub.searched import BASE, PARAMETERS, add_family

from weighbridge.formats.gguf import read_header
from weighbridge.formats.model import model_info
from weighbridge.formats.recognise import recognise
from weighbridge.formats.source import BytesSource
from weighbridge.formats.variant import File, Hints, Reader

SIZE = 300_000
BIG = Made(SIZE, seed=1)
REPO, BIG_FILE = "tiny/Some-GGUF", "big.gguf"


@pytest.fixture(autouse=True)
def library(tmp_path, monkeypatch):
    """The real library with a home of its own, that leaves no thread and no connection behind."""
    monkeypatch.setattr("tqdm.tqdm.monitor_interval", 0)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_TELEMETRY", True)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("HF_XET_CACHE", str(tmp_path / "xet"))
    yield
    close_session()


@pytest.fixture
def hub():
    with FakeHub() as made:
        yield made


@pytest.fixture
def some(hub):
    return hub.add(REPO, {"README.md": "# Some\n", BIG_FILE: BIG, "deep/er/small.json": "{}"}, tags=("gguf",))


@pytest.fixture
def api(hub):
    return HfApi(endpoint=hub.endpoint, token=False)


@pytest.fixture
def client():
    with httpx2.Client(follow_redirects=True, timeout=5) as made:
        yield made


def place(hub, path=BIG_FILE, revision="main", repo=REPO):
    return hf_hub_url(repo, path, revision=revision, endpoint=hub.endpoint)


def metadata(hub, path=BIG_FILE, **more):
    return get_hf_file_metadata(place(hub, path, **more), token=False)


# search


def test_search_filter_author_sort_and_limit(hub, api):
    for number in range(5):
        hub.add(f"a/Llama-{number}", {"x.gguf": b"x"}, tags=("gguf", "en"), downloads=number, likes=-number)
    hub.add("b/Qwen-MLX", {"x": b"x"}, tags=("mlx",), downloads=9, pipeline_tag="text-generation", gguf={"total": 8e9})
    ids = lambda **asked: [model.id for model in api.list_models(**asked)]  # noqa: E731
    assert ids(search="LLAMA 3") == ["a/Llama-3"]
    assert ids(filter="mlx") == ids(author="B") == ids(pipeline_tag="text-generation") == ["b/Qwen-MLX"]
    assert ids(filter=["gguf", "mlx"]) == []
    assert ids(sort="downloads", limit=2) == ["b/Qwen-MLX", "a/Llama-4"]
    assert ids(sort="likes", filter=["gguf", "en"])[0] == "a/Llama-0"
    assert ids(num_parameters="min:6B,max:128B") == ["b/Qwen-MLX"]
    assert ids(num_parameters="max:6B") == []


def test_a_search_is_paged(hub, api):
    for number in range(7):
        hub.add(f"a/m{number}", {"x": b"x"}, downloads=number)
    hub.models_per_page = 3
    assert [model.downloads for model in api.list_models(sort="downloads")] == [6, 5, 4, 3, 2, 1, 0]
    assert len(hub.asked(path="/api/models")) == 3


def test_a_list_tells_what_the_hub_has_read_in_the_files(hub, api):
    add_family(hub)
    asked = ["gguf", "safetensors", "tags", "pipeline_tag", "sha", "siblings"]
    found = {model.id: model for model in api.list_models(filter=["gguf"], search="qwen3", expand=asked)}
    told = found["unsloth/Qwen3-8B-GGUF"]
    assert told.gguf == {"total": PARAMETERS, "architecture": "qwen3", "context_length": 40_960}
    assert (told.sha, told.pipeline_tag, told.safetensors) == (
        hub.repos[told.id].branches["main"].sha,
        "text-generation",
        None,
    )
    of_base = [model.id for model in api.list_models(filter=f"base_model:quantized:{BASE}", sort="downloads")]
    assert of_base == ["unsloth/Qwen3-8B-GGUF", "mlx-community/Qwen3-8B-4bit", "turboderp/Qwen3-8B-exl3"]
    (packed,) = api.list_models(filter="mlx", expand=["safetensors"])
    assert packed.safetensors.total < PARAMETERS / 6


def test_expand_gives_what_was_asked_for_and_no_more(hub, api):
    add_gated(hub)
    (model,) = api.list_models(expand=["gated", "siblings", "lastModified"])
    assert (model.gated, model.tags, model.downloads) == ("manual", None, None)
    assert [file.rfilename for file in model.siblings] == ["README.md", "gated-Q4_K_M.gguf"]
    assert model.siblings[0].size is None
    with pytest.raises(BadRequestError):
        list(api.list_models(expand=["sizes"]))


# a repository


def test_model_info(some, api):
    other = some.commit({"new.gguf": b"new"}, "other")
    told = api.model_info(REPO, files_metadata=True)
    files = {file.rfilename: file for file in told.siblings}
    assert (told.sha, told.gated, told.tags) == (some.branches["main"].sha, False, ["gguf"])
    assert (files[BIG_FILE].size, files[BIG_FILE].lfs.sha256) == (SIZE, sha256(BIG))
    assert (files["README.md"].blob_id, files["README.md"].lfs) == (git_sha1(content_of("# Some\n")), None)
    assert [file.rfilename for file in api.model_info(REPO, revision="other").siblings] == ["new.gguf"]
    assert api.model_info(REPO, revision=other.sha).sha == other.sha
    assert api.model_info(REPO, expand=["downloads"]).siblings is None
    with pytest.raises(RevisionNotFoundError):
        api.model_info(REPO, revision="none")


def test_the_tree(some, api):
    rows = {row.path: row for row in api.list_repo_tree(REPO, recursive=True)}
    assert sorted(rows) == ["README.md", BIG_FILE, "deep", "deep/er", "deep/er/small.json"]
    assert (rows[BIG_FILE].size, rows[BIG_FILE].lfs.sha256, rows[BIG_FILE].xet_hash) == (SIZE, sha256(BIG), None)
    assert rows[BIG_FILE].blob_id == git_sha1(some.branches["main"].entries[BIG_FILE].pointer)
    assert [row.path for row in api.list_repo_tree(REPO)] == ["README.md", BIG_FILE, "deep"]
    assert [row.path for row in api.list_repo_tree(REPO, "deep/er", expand=True)] == ["deep/er/small.json"]
    with pytest.raises(RemoteEntryNotFoundError):
        list(api.list_repo_tree(REPO, "none"))


def test_a_large_tree_is_paged(hub, api):
    hub.add("a/many", {f"{number:04}.txt": b"" for number in range(2100)})
    assert len(list(api.list_repo_tree("a/many"))) == 2100
    assert len(hub.asked(path="/api/models/a/many/tree")) == 3
    (unsafe,) = (row for row in api.list_repo_tree(add_all(hub)["pickle"].id, expand=True) if not row.security.safe)
    assert (unsafe.path, unsafe.last_commit.title) == ("pytorch_model.bin", "Upload files")


def test_paths_info_and_refs(some, api):
    some.commit({"a.gguf": b"a"}, "6.0bpw/h6")
    some.tag("v1")
    (row,) = api.get_paths_info(REPO, [BIG_FILE, "none"], expand=True)
    assert (row.lfs.sha256, row.security.status) == (sha256(BIG), "safe")
    refs = api.list_repo_refs(REPO)
    assert {ref.name: ref.target_commit for ref in refs.branches} == {
        "main": some.branches["main"].sha,
        "6.0bpw/h6": some.branches["6.0bpw/h6"].sha,
    }
    assert [(ref.name, ref.ref) for ref in refs.tags] == [("v1", "refs/tags/v1")]
    assert [row.path for row in api.list_repo_tree(REPO, revision="6.0bpw/h6")] == ["a.gguf"]


def test_a_commit_keeps_what_it_does_not_touch_and_the_old_one_can_be_had(some, api, hub, client):
    before = some.branches["main"].sha
    some.commit({BIG_FILE: b"changed", "README.md": None})
    assert sorted(row.path for row in api.list_repo_tree(REPO)) == [BIG_FILE, "deep"]
    assert client.get(place(hub)).content == b"changed"
    assert client.get(place(hub, revision=before)).content == read(BIG)


# where files are, and their bytes


def test_metadata_of_a_large_file(some, hub):
    told = metadata(hub)
    assert (told.commit_hash, told.etag, told.size) == (some.branches["main"].sha, sha256(BIG), SIZE)
    assert told.location.startswith(hub.cdn + "/")
    assert told.xet_file_data is None
    assert hub.cdn != hub.endpoint
    assert [request.status for request in hub.requests] == [302]


def test_metadata_of_a_small_file(some, hub):
    told = metadata(hub, "README.md")
    assert (told.commit_hash, told.etag, told.size) == (some.branches["main"].sha, git_sha1(content_of("# Some\n")), 7)
    assert told.location.startswith(f"{hub.endpoint}/api/resolve-cache/models/{REPO}/{told.commit_hash}/")
    with pytest.raises(RemoteEntryNotFoundError):
        metadata(hub, "none.json")


@pytest.mark.parametrize(
    ("told", "start", "stop"), [("bytes=5-9", 5, 10), ("bytes=299990-", 299_990, SIZE), ("bytes=-7", SIZE - 7, SIZE)]
)
def test_a_range(some, hub, client, told, start, stop):
    answer = client.get(metadata(hub).location, headers={"Range": told})
    assert (answer.status_code, answer.headers["Content-Range"]) == (206, f"bytes {start}-{stop - 1}/{SIZE}")
    assert answer.content == read(BIG)[start:stop]


def test_a_range_that_cannot_be(some, hub, client):
    url = metadata(hub).location
    beyond = client.get(url, headers={"Range": f"bytes={SIZE}-"})
    assert (beyond.status_code, beyond.headers["Content-Range"]) == (416, f"bytes */{SIZE}")
    stale = client.get(url, headers={"Range": "bytes=5-", "If-Range": f'"{sha256(BIG)}"'})
    assert (stale.status_code, len(stale.content)) == (200, SIZE)
    fresh = client.get(url, headers={"Range": "bytes=5-", "If-Range": stale.headers["ETag"]})
    assert fresh.status_code == 206


def test_a_small_file_is_compressed_for_those_who_can_read_it(some, hub, client):
    packed = client.get(place(hub, "README.md"))
    assert (packed.text, packed.headers["Content-Encoding"]) == ("# Some\n", "gzip")
    assert "Content-Length" not in packed.headers
    plain = client.get(place(hub, "README.md"), headers={"Accept-Encoding": "identity"})
    assert (plain.text, plain.headers["Content-Length"]) == ("# Some\n", "7")


def test_raw_gives_the_text_of_a_small_file_and_the_pointer_of_a_large_one(some, hub, client):
    assert client.get(f"{hub.endpoint}/{REPO}/raw/main/README.md").text == "# Some\n"
    assert f"oid sha256:{sha256(BIG)}\nsize {SIZE}\n" in client.get(f"{hub.endpoint}/{REPO}/raw/main/{BIG_FILE}").text


def test_signed_addresses_expire(some, hub, client):
    url = metadata(hub).location
    assert client.get(url).status_code == 200
    hub.expire_addresses()
    assert client.get(url).status_code == 403
    assert client.get(metadata(hub).location).status_code == 200
    hub.signer.seconds = -1
    assert client.get(metadata(hub).location).status_code == 403
    assert client.get(hub.cdn + "/xet-bridge/guess?Signature=guess").status_code == 403


def test_hf_hub_download_and_snapshot_download(some, api, hub, tmp_path):
    cache = tmp_path / "cache"
    file = api.hf_hub_download(REPO, BIG_FILE, cache_dir=cache)
    assert Path(file).read_bytes() == read(BIG)
    folder = Path(api.snapshot_download(REPO, cache_dir=cache, max_workers=2))
    assert (folder / "deep/er/small.json").read_text() == "{}"
    assert api.verify_repo_checksums(REPO, cache_dir=cache).checked_count == 3
    assert [request.sent for request in hub.asked(server="cdn")] == [SIZE]


def test_xet(hub, api, tmp_path):
    content = Made(3 << 20, seed=8)
    repo = hub.add("a/xet", {"x.gguf": content, "c.json": "{}"}, xet=True)
    told = metadata(hub, "x.gguf", repo="a/xet")
    (row,) = (row for row in api.list_repo_tree("a/xet") if row.lfs)
    assert told.xet_file_data.file_hash == row.xet_hash == repo.branches["main"].entries["x.gguf"].storage_hash
    file = api.hf_hub_download("a/xet", "x.gguf", cache_dir=tmp_path / "cache")
    assert Path(file).read_bytes() == read(content)
    assert hub.asked(server="cdn") == []
    assert len(hub.asked(path="/api/models/a/xet/xet-read-token")) == 1


# who may see and fetch what


def test_gated(hub, api):
    repo = add_gated(hub)
    assert (api.model_info(repo.id).gated, len(list(api.list_repo_tree(repo.id)))) == ("manual", 2)
    url = hf_hub_url(repo.id, "gated-Q4_K_M.gguf", endpoint=hub.endpoint)
    for token, status in ((False, 401), ("hf_other", 403)):
        with pytest.raises(GatedRepoError) as refused:
            get_hf_file_metadata(url, token=token)
        assert refused.value.response.status_code == status
        with pytest.raises(GatedRepoError):
            api.auth_check(repo.id, token=token)
    api.auth_check(repo.id, token="hf_granted")
    assert get_hf_file_metadata(url, token="hf_granted").size


def test_private_and_gone(hub, api):
    repo = add_private(hub)
    hub.tokens["hf_other"] = "other"
    for token in (False, "hf_other"):
        with pytest.raises(RepositoryNotFoundError):
            api.model_info(repo.id, token=token)
        assert list(api.list_models(token=token)) == []
    assert api.model_info(repo.id, token="hf_member").private
    hub.remove(repo.id)
    with pytest.raises(RepositoryNotFoundError):
        api.model_info(repo.id, token="hf_member")


def test_a_renamed_repository_and_one_in_other_letters(some, hub, api, client):
    hub.rename(REPO, "new/Name")
    assert api.model_info(REPO).id == api.model_info("NEW/name").id == "new/Name"
    assert metadata(hub).etag == sha256(BIG)
    assert client.get(place(hub)).content == read(BIG)


def test_whoami_and_a_token_that_is_not_known(some, hub, api):
    hub.tokens["hf_good"] = "somebody"
    assert api.whoami(token="hf_good")["name"] == "somebody"
    with pytest.raises(HfHubHTTPError) as refused:
        api.model_info(REPO, token="hf_bad")
    assert not isinstance(refused.value, RepositoryNotFoundError)
    assert refused.value.response.headers["X-Error-Message"] == "Invalid credentials in Authorization header"


def test_it_tells_where_a_token_went(some, hub, api, tmp_path):
    hub.tokens["hf_good"] = "somebody"
    api.hf_hub_download(REPO, BIG_FILE, cache_dir=tmp_path, token="hf_good")
    assert [(request.server, request.token) for request in hub.requests] == [("hub", "hf_good"), ("cdn", None)]


def test_too_many_requests(some, hub, api):
    hub.limits["api"] = 2
    api.model_info(REPO)
    api.list_repo_refs(REPO)
    with pytest.raises(HfHubHTTPError) as refused:
        api.model_info(REPO)
    told = parse_ratelimit_headers(refused.value.response.headers)
    assert (refused.value.response.status_code, told.resource_type, told.remaining) == (429, "api", 0)
    assert 0 < told.reset_in_seconds <= 300
    assert metadata(hub).size == SIZE
    hub.limits.seconds = 0
    assert api.model_info(REPO).sha


# what is not true


def test_what_the_hub_says_may_be_a_lie(some, hub, api):
    some.claim(BIG_FILE, sha256="../../x", size=5)
    (row,) = api.get_paths_info(REPO, [BIG_FILE])
    assert (row.lfs.sha256, row.size) == ("../../x", 5)
    assert metadata(hub).etag == "../../x"


def test_headers_that_lie(some, hub):
    hub.faults.next(Headers({"X-Repo-Commit": "../../x", "X-Linked-Etag": None}), BIG_FILE, on="resolve")
    told = metadata(hub)
    assert (told.commit_hash, told.etag) == ("../../x", None)


def test_names_that_must_not_be_written_are_told_as_they_are(hub, api):
    repo = add_hostile(hub)
    assert {file.rfilename for file in api.model_info(repo.id).siblings} == set(repo.branches["main"].entries)
    assert "../above.gguf" in {row.path for row in api.list_repo_tree(repo.id, recursive=True)}


# over TLS


def test_over_tls(tmp_path):
    with FakeHub(tls=True) as hub, httpx2.Client(verify=hub.trust(), follow_redirects=True) as client:
        hub.add(REPO, {BIG_FILE: BIG})
        assert hub.endpoint.startswith("https://127.0.0.1:")
        assert client.get(place(hub)).content == read(BIG)
        hub.faults.next(Cut(5000))
        with pytest.raises(httpx2.RemoteProtocolError):
            client.get(place(hub))
        with httpx2.Client() as stranger, pytest.raises(httpx2.ConnectError):
            stranger.get(place(hub))


def test_the_real_library_over_tls(monkeypatch, tmp_path):
    with FakeHub(tls=True) as hub:
        monkeypatch.setenv("SSL_CERT_FILE", str(hub.authority))
        close_session()
        hub.add(REPO, {BIG_FILE: BIG})
        api = HfApi(endpoint=hub.endpoint, token=False)
        assert Path(api.hf_hub_download(REPO, BIG_FILE, cache_dir=tmp_path)).read_bytes() == read(BIG)
        with pytest.raises(RepositoryNotFoundError):
            api.model_info("a/none")
        close_session()


# the repositories that come with it


def test_the_made_repositories_are_what_they_are_called(hub):
    formats = {name: _formats(repo) for name, repo in add_all(hub).items()}
    assert formats == {
        "gguf": {"main": {("gguf", "Q4_K_M"), ("gguf", "Q8_0")}},
        "split": {"main": {("gguf", "Q4_K_M"), ("gguf", "BF16")}},
        "joined": {"main": {("gguf", "Q6_K")}},
        "exl2": {"main": {("exl2", None)}, "4.0bpw": {("exl2", "4.0 bpw")}, "6_5": {("exl2", "6.5 bpw")}},
        "exl3": {
            "main": {("exl3", None)},
            "3.00bpw": {("exl3", "3.0 bpw h6")},
            "4.00bpw_H6": {("exl3", "4.0 bpw h6")},
        },
        "exl3 in folders": {"main": {("exl3", "3.0 bpw h6"), ("exl3", "5.0 bpw h6")}},
        "mlx": {"main": {("mlx", "4bit g64")}},
        "safetensors": {"main": {("safetensors", "BF16")}},
        "pickle": {"main": {("pickle", None)}},
        "openvino": {"main": {("openvino", None)}},
        "onnx": {"main": {("onnx", None)}},
    }


def _formats(repo):
    import json

    found = {}
    for branch, commit in repo.branches.items():
        files = [File(path, entry.size) for path, entry in commit.entries.items()]
        reader = Reader(json=lambda path, commit=commit: json.loads(read(commit.entries[path].content)))
        variants = recognise(files, reader, Hints(repo.id, branch, frozenset(repo.model_tags)))
        found[branch] = {(variant.format, variant.label) for variant in variants}
    return found


def test_the_made_ggufs_can_be_read(hub):
    entries = add_all(hub)["gguf"].branches["main"].entries
    header = read_header(BytesSource(read(entries["Tiny-Q4_K_M.gguf"].content)), full=True)
    assert model_info(header, "Tiny-Q4_K_M").name == "Tiny"
