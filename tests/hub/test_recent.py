from weighbridge.hub.recent import Recent


def test_the_last_are_kept_and_what_was_asked_for_is_of_the_last():
    recent = Recent(2)
    recent.keep("a", 1, None)
    recent.keep("b", 2, None)
    assert recent.get("a") == 1
    recent.keep("c", 3, None)
    assert [recent.get(key) for key in "abc"] == [1, None, 3]


def test_all_is_forgotten_where_another_asks_and_does_not_come_back():
    who = ["a"]
    recent = Recent(9, lambda: who[0])
    recent.keep("x", 1, recent.asker())
    who[0] = "b"
    assert recent.get("x") is None
    who[0] = "a"
    assert recent.get("x") is None


def test_what_was_told_to_another_is_neither_kept_nor_made_better():
    who = ["a"]
    recent = Recent(9, lambda: who[0])
    told_to = recent.asker()
    who[0] = "b"
    recent.keep("x", 1, told_to)
    assert recent.get("x") is None
    recent.better("x", lambda value: value + 1)
    assert recent.get("x") is None


def test_what_is_there_is_made_better_and_dropped():
    recent = Recent(9)
    recent.keep("x", 1, None)
    recent.better("x", lambda value: value + 1)
    assert recent.get("x") == 2
    recent.drop("x")
    recent.drop("x")
    assert recent.get("x") is None
    recent.keep("x", 3, None)
    recent.clear()
    assert recent.get("x") is None
