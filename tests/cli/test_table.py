from weighbridge.cli.table import table


def test_columns_are_aligned():
    assert table(["name", "size"], [["a", "10"], ["bcdef", "9"]], right=[1]).splitlines() == [
        "name   size",
        "a        10",
        "bcdef     9",
    ]


def test_wide_letters_take_two_columns_and_marks_none():
    lines = table(["n", "x"], [["模型", "1"], ["u\u0308", "2"]]).splitlines()
    assert lines[1:] == ["模型  1", "u\u0308     2"]


def test_control_characters_do_not_reach_the_terminal():
    assert "\x1b" not in table(["n"], [["a\x1b[31mb\u202ec"]])
