import pytest

from weighbridge.formats.safe_names import is_safe, refusals

UNSAFE = [
    "",
    "../x.gguf",
    "a/../../x.gguf",
    "/etc/passwd",
    "a//b.gguf",
    "./x.gguf",
    "C:x.gguf",
    "C:\\x.gguf",
    "\\\\server\\share\\x.gguf",
    "a/b:stream.gguf",
    "con.gguf",
    "NUL",
    "nul.tar.gz",
    "com1.gguf",
    "LPT¹.gguf",
    "conin$",
    "a/aux /x.gguf",
    "x.gguf.",
    "x.gguf ",
    "dir /x.gguf",
    "new\nline.gguf",
    "tab\t.gguf",
    "esc\x1b[31m.gguf",
    "turn\u202efugg.gguf",
    "zero\u200bwidth.gguf",
    "what?.gguf",
    "star*.gguf",
    'quote".gguf',
    "pipe|.gguf",
    "lone\ud800.gguf",
    "x" * 241,
]


@pytest.mark.parametrize("path", UNSAFE)
def test_names_that_are_refused(path):
    assert not is_safe(path)


@pytest.mark.parametrize(
    "path", ["m.gguf", "UD-Q4_K_XL/m-00001-of-00002.gguf", "Модели/模型 ü.gguf", "console.gguf", "a.b", "x" * 240]
)
def test_names_that_are_fine(path):
    assert is_safe(path)


def test_names_that_differ_in_case_or_in_accents_spelling_alone_are_refused():
    refused = refusals(["a/M.gguf", "A/m.gguf", "caf\u00e9.gguf", "cafe\u0301.gguf", "ok.gguf", "../x"])
    assert {path: error.code for path, error in refused.items()} == {
        "a/M.gguf": "file.name_twin",
        "A/m.gguf": "file.name_twin",
        "caf\u00e9.gguf": "file.name_twin",
        "cafe\u0301.gguf": "file.name_twin",
        "../x": "file.unsafe_name",
    }
