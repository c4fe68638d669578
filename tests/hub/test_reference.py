import pytest

from weighbridge.base.errors import Refused
from weighbridge.hub.reference import Reference, is_repo_id, is_revision, parse

HUB = "https://huggingface.co"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("o/r", Reference("o/r")),
        ("  o/r \n", Reference("o/r")),
        ("o/r/", Reference("o/r")),
        ('"o/r:Q8_0"', Reference("o/r", quant="Q8_0")),
        ("Qwen/Qwen3-8B-GGUF:Q4_K_M", Reference("Qwen/Qwen3-8B-GGUF", quant="Q4_K_M")),
        ("o/r:UD-Q4_K_XL", Reference("o/r", quant="UD-Q4_K_XL")),
        ("o/r:sub/f-Q8_0.gguf", Reference("o/r", file="sub/f-Q8_0.gguf")),
        ("o/r:f.GGUF", Reference("o/r", file="f.GGUF")),
        ("o/r@4.0bpw", Reference("o/r", "4.0bpw")),
        ("hf.co/o/r:Q4_K_M", Reference("o/r", quant="Q4_K_M")),
        ("hf://o/r", Reference("o/r")),
        ("huggingface.co/o/r", Reference("o/r")),
        (f"{HUB}/o/r", Reference("o/r")),
        (f"<{HUB}/o/r>", Reference("o/r")),
        (f"{HUB}/o/r/", Reference("o/r")),
        (f"{HUB}/o/r/discussions/3", Reference("o/r")),
        (f"{HUB}/o/r/tree/main", Reference("o/r", "main")),
        (f"{HUB}/o/r/tree/4.0bpw/sub", Reference("o/r", "4.0bpw", "sub")),
        (f"{HUB}/o/r/tree/refs%2Fpr%2F1", Reference("o/r", "refs/pr/1")),
        (f"{HUB}/o/r/tree/refs/pr/1/a", Reference("o/r", "refs/pr/1", "a")),
        (f"{HUB}/o/r/blob/main/f%20x.gguf", Reference("o/r", "main", "f x.gguf")),
        (f"{HUB}/o/r/resolve/main/a/f.gguf?download=true#top", Reference("o/r", "main", "a/f.gguf")),
        ("HTTPS://HuggingFace.co/o/r", Reference("o/r")),
        ("hf download o/r", Reference("o/r")),
        ("hf download o/r f.gguf --revision b", Reference("o/r", "b", "f.gguf")),
        ('hf download o/r --include "*Q4_K_M*"', Reference("o/r", quant="Q4_K_M")),
        ("huggingface-cli download o/r --include=*UD-Q2_K_XL*.gguf", Reference("o/r", quant="UD-Q2_K_XL")),
        ("hf download o/r --include UD-IQ1_S/* --local-dir /x", Reference("o/r", quant="UD-IQ1_S")),
        ("hf download o/r --local-dir x", Reference("o/r")),
        ("llama-server -hf o/r:Q8_0 -c 4096", Reference("o/r", quant="Q8_0")),
        ("llama-cli --hf-repo o/r --hf-file f.gguf", Reference("o/r", file="f.gguf")),
        ("ollama run hf.co/o/r:Q4_K_M", Reference("o/r", quant="Q4_K_M")),
        (f"{HUB}/o/r?show_file_info=f-Q4_0.gguf", Reference("o/r", file="f-Q4_0.gguf")),
        (f"{HUB}/o/r/tree/b?show_file_info=a%2Ff.gguf", Reference("o/r", "b", "a/f.gguf")),
        (f"{HUB}/o/r/blame/main/f.gguf", Reference("o/r", "main", "f.gguf")),
        (f"{HUB}/o/r.", Reference("o/r")),
        (f"({HUB}/o/r),", Reference("o/r")),
        (f"[the model]({HUB}/o/r:Q8_0)", Reference("o/r", quant="Q8_0")),
        ("\u201co/r\u201d", Reference("o/r")),
        ("hf.co/o/r/sub/f.gguf", Reference("o/r", file="sub/f.gguf")),
        ("hf.co/o/r:latest", Reference("o/r")),
        ("hf://o/r@b/sub/f.gguf", Reference("o/r", "b", "sub/f.gguf")),
        ("lmstudio://open_from_hf?model=o/r&file=f.gguf", Reference("o/r", file="f.gguf")),
        ("$ X_Y=1 uvx hf download --quiet o/r f.gguf", Reference("o/r", file="f.gguf")),
        ('pip install -U "hub[cli]" && hf download o/r && ls', Reference("o/r")),
        ('hf download \\\n  o/r \\\n  --include "*Q4_K_M*"', Reference("o/r", quant="Q4_K_M")),
        ("llama-server --hf-repo=o/r --hf-file=f.gguf", Reference("o/r", file="f.gguf")),
        ("python -m mlx_lm generate --model o/r --prompt 'hi there'", Reference("o/r")),
        ("vllm serve 'o/r' --port 8000", Reference("o/r")),
        ("docker model run hf.co/o/r:Q4_K_M", Reference("o/r", quant="Q4_K_M")),
        ("ollama run hf.co/o/r --verbose", Reference("o/r")),
        (f"curl -L -o models/f.gguf {HUB}/o/r/resolve/main/f.gguf", Reference("o/r", "main", "f.gguf")),
        (f"git clone {HUB}/o/r", Reference("o/r")),
        ('Llama.from_pretrained(repo_id="o/r", filename="*Q8_0.gguf")', Reference("o/r", quant="Q8_0")),
        ("model = AutoModel.from_pretrained('o/r', dtype='auto')", Reference("o/r")),
    ],
)
def test_what_is_meant(text, meant):
    assert parse(text) == meant


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "model",
        "o/",
        "/r",
        "o/r:",
        "o/r@",
        "o/r/extra",
        "../x",
        "o/..",
        "o/.",
        "a/..",
        "./x",
        "o/con",
        "o/r:../evil.gguf",
        "o/r:a/../../b.gguf",
        "o/r:C:\\x.gguf",
        "o/r@../x",
        "o/r.",
        "o--x/r",
        "o/r\x00",
        "o\\r",
        "https://example.com/o/r",
        "https://huggingface.co.example.com/o/r",
        "https://huggingface.co@example.com/o/r",
        "https://user@huggingface.co/o/r",
        "ftp://huggingface.co/o/r",
        "file:///etc/passwd",
        f"{HUB}/datasets/o/r",
        f"{HUB}/spaces/o/r",
        f"{HUB}/o",
        f"{HUB}/o/r/blob",
        f"{HUB}/o/r/blob/main/../../x",
        f"{HUB}/o/r/blob/main/%2e%2e/x",
        "https://[huggingface.co/o/r",
        "hf download",
        "hf download o/r --repo-type dataset",
        'hf download o/r --include "*Q4',
        "rm -rf o/r",
        "a/b/f.gguf",
        "ollama run o/r",
        "docker model run ai/smollm2",
        "llama-server --model models/f.gguf",
        f"{HUB}/o/r/blob/main/f.gguf:Q4_K_M",
        "hf://datasets/o/r/f.gguf",
        "o/" + "r" * 3_000,
    ],
)
def test_anything_else_is_refused(text):
    with pytest.raises(Refused) as caught:
        parse(text)
    assert caught.value.code == "hub.reference"
    assert len(caught.value.values["text"]) <= 200


def test_a_mirror_is_a_host_where_it_is_told():
    assert parse("https://hub.local/o/r", frozenset({"hub.local"})) == Reference("o/r")
    with pytest.raises(Refused):
        parse(f"{HUB}/o/r", frozenset({"hub.local"}))


def test_names_of_repositories_and_revisions():
    assert is_repo_id("unsloth/Qwen3.8-27B-GGUF")
    assert not is_repo_id("o/nul")
    assert is_revision("2.06bpw_H6")
    assert is_revision("refs/pr/12")
    assert not is_revision("-x/..")
    assert not is_revision("a//b")
