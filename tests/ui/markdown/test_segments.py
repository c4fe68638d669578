"""Markdown cut while it streams: closed once, never changed."""

import pytest

from weighbridge.ui.markdown.segments import HARD_CAP, MOST_CELLS, Code, CodeClosed, CodeOpened, Prose, Segmenter

MIXED = """# Title
First paragraph
goes on.

- one
- two

  more of two
- three

After the list.

1. Install:
   ```bash
   pip install x
     indented
   ```
   Then run it.
2. Done

````text
```
inner
```
````
End `x`"""


def parts_of(text, size=None):
    segmenter = Segmenter()
    parts = []
    for at in range(0, len(text), size or max(1, len(text))):
        parts += segmenter.feed(text[at : at + (size or len(text))])
    return joined(parts + segmenter.finish())


def joined(parts):
    out = []
    for part in parts:
        if isinstance(part, Code) and out and isinstance(out[-1], Code):
            out[-1] = Code(out[-1].text + part.text)
        else:
            out.append(part)
    return out


def test_parts():
    assert parts_of(MIXED) == [
        Prose("# Title\nFirst paragraph\ngoes on.\n\n"),
        Prose("- one\n- two\n\n  more of two\n- three\n\n"),
        Prose("After the list.\n\n"),
        Prose("1. Install:\n"),
        CodeOpened("bash"),
        Code("pip install x\n  indented\n"),
        CodeClosed(),
        Prose("Then run it.\n2. Done\n\n"),
        CodeOpened("text"),
        Code("```\ninner\n```\n"),
        CodeClosed(),
        Prose("End `x`"),
    ]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 11])
def test_the_same_in_any_pieces(size):
    assert parts_of(MIXED, size) == parts_of(MIXED)


def test_code_is_told_as_it_comes_but_not_a_mark_that_may_close_it():
    segmenter = Segmenter()
    assert segmenter.feed("```py\nx =") == [CodeOpened("py"), Code("x =")]
    assert segmenter.feed(" 1\n``") == [Code(" 1\n")]
    assert segmenter.feed("`\nafter") == [CodeClosed()]
    assert segmenter.open_prose == "after"


def test_a_fence_never_closed():
    assert parts_of("```\na\nb") == [CodeOpened(""), Code("a\nb"), CodeClosed()]
    assert parts_of("```\na\n``") == [CodeOpened(""), Code("a\n``"), CodeClosed()]


def test_an_endless_paragraph_is_cut_between_words():
    text = "word " * 5_000
    parts = parts_of(text, 40)
    assert "".join(part.text for part in parts) == text
    assert all(len(part.text) <= HARD_CAP and part.text.endswith(" ") for part in parts)


def test_a_line_without_any_space_is_cut_all_the_same():
    text = "x" * (3 * HARD_CAP)
    assert [len(part.text) for part in parts_of(text)] == [HARD_CAP] * 3


def test_a_long_table_is_cut_with_its_head_repeated():
    head = "| a | b |\n|---|---|\n"
    rows = [f"| {number} | {'x' * 40} |\n" for number in range(400)]
    parts = parts_of(head + "".join(rows), 64)
    assert len(parts) > 1
    assert all(part.text.startswith(head) for part in parts)
    assert "".join(part.text.removeprefix(head) for part in parts) == "".join(rows)


@pytest.mark.parametrize("above", ["", "Of these:\n"])
def test_a_table_of_many_cells_is_closed_between_rows(above):
    head, rows = "|a|b|\n|-|-|\n", [f"|{number}|x|\n" for number in range(1_000)]
    parts = parts_of(above + head + "".join(rows) + "\nEnd | of it.\n", 64)
    *tables, end = [part.text for part in parts]
    assert all(text.count("|") <= MOST_CELLS + head.count("|") for text in tables)
    assert tables[0].startswith(above + head)
    assert all(text.startswith(head) for text in tables[1:])
    assert "".join(text.removeprefix(above).removeprefix(head) for text in tables).strip() == "".join(rows).strip()
    assert end == "End | of it.\n"


def test_a_long_list_is_closed_between_items():
    text = "".join(f"{number}. {'x' * 90}\n" for number in range(1, 100))
    parts = parts_of(text, 50)
    assert len(parts) > 2
    assert parts[1].text[0].isdigit()
    assert "".join(part.text for part in parts) == text
