"""What is copied for strangers holds no secret and no name."""

import pytest

from weighbridge.base.redacted import redacted

KEY = "Zx81-kQ_secretkey-of-an-engine"
PLANTED = f"""Weighbridge 1.0 · Linux
model: /home/anna/Models/Qwen.gguf, other /home/bert/x, /Users/Clara Bow/m.gguf and C:\\Users\\dora\\m.gguf
token hf_TESTTOKENabcdefghij in HF_TOKEN=hf_TESTTOKENabcdefghij
Authorization: Bearer abcdef0123456789 and "authorization": "Bearer zzzzzz0123456789"
srv  init_listene: api_keys: ****kkkk
--api-key verysecretvalue --port 1
WEIGHBRIDGE_ENGINE_KEY={KEY}
{{"api_key": "in-json-hidden"}} password=hunter2
GET https://user:pw@mirror.example/a?token=querysecret&b=1
sk-proj-abcdefgh12345678 ghp_abcdefgh12345678 eyJhbGciOi.eyJzdWIiOiIx.c2ln AKIAABCDEFGHIJKLMNOP
host annas-box said: anna logged in; hannah did not
load: {KEY}
"""
SECRETS = (
    "hf_TESTTOKEN",
    "abcdef0123456789",
    "zzzzzz0123456789",
    "verysecretvalue",
    KEY,
    "in-json-hidden",
    "hunter2",
    "user:pw",
    "querysecret",
    "sk-proj-abcdefgh",
    "ghp_abcdefgh",
    "eyJhbGciOi",
    "AKIAABCD",
    "/home/anna",
    "bert",
    "Clara",
    "Bow",
    "dora",
    "annas-box",
    " anna ",
    "kkkk",
)


@pytest.mark.parametrize("secret", SECRETS)
def test_what_was_planted_is_gone(secret):
    assert secret in PLANTED
    assert secret not in redacted(PLANTED, [KEY], "/home/anna", "anna", "annas-box")


@pytest.mark.parametrize(
    "line",
    [
        "~/Models/Qwen.gguf",
        "hannah did not",
        "--port 1",
        "Weighbridge 1.0 · Linux",
        "https://***@mirror.example/a?***",
    ],
)
def test_what_helps_stays(line):
    assert line in redacted(PLANTED, [KEY], "/home/anna", "anna", "annas-box")


@pytest.mark.parametrize(
    "line",
    [
        "llama_context: n_ctx = 4096, n_tokens = 12, special tokens cache size = 3",
        "load: token to piece cache size = 0.1684 MB",
        "print_info: BOS token             = 1 '<s>'",
        "key_type: q8_0, n_embd_head_k = 64",
        "alloc_tensor_range: failed to allocate CUDA0 buffer of size 151851674624",
        "K cache type q4_K with block size 256 does not divide n_embd_head_k=64",
        "KeyError: 'GGML_TYPE_Q9_9'",
        "/models/root.gguf of al",
    ],
)
def test_a_log_that_holds_no_secret_is_left_as_it_is(line):
    assert redacted(line, [], "/root", "al") == line


def test_a_home_that_is_the_root_hides_nothing_else():
    assert redacted("/usr/lib/x", [], "/", "x1") == "/usr/lib/x"


def test_windows_writes_homes_in_several_ways():
    home = "C:\\Users\\Jörg Ä"
    for written in (f"{home}\\m.gguf", "C:/Users/Jörg Ä/m.gguf", "C:\\\\Users\\\\Jörg Ä\\\\m.gguf"):
        assert "Jörg" not in redacted(written, [], home, "Jörg Ä")
