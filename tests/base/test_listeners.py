"""Who is told of changes."""

from weighbridge.base.listeners import Listeners


def test_all_are_told_in_the_order_in_which_they_came():
    listeners, told = Listeners(), []
    listeners.add(lambda value: told.append(("first", value)))
    listeners.add(lambda value: told.append(("second", value)))
    listeners.tell(7)
    assert told == [("first", 7), ("second", 7)]


def test_who_has_left_is_told_no_more():
    listeners, told = Listeners(), []
    leave = listeners.add(told.append)
    listeners.add(lambda value: told.append(-value))
    leave()
    leave()
    listeners.tell(7)
    assert told == [-7]


def test_who_leaves_while_it_is_told_keeps_nobody_from_being_told():
    listeners, told = Listeners(), []

    def once():
        told.append("once")
        leave()

    leave = listeners.add(once)
    listeners.add(lambda: told.append("always"))
    listeners.tell()
    listeners.tell()
    assert told == ["once", "always", "always"]
