"""Keys of endpoints: where they are kept, and that they do not show."""

import stat
import sys

import pytest

from weighbridge.base.errors import Refused
from weighbridge.running.endpoints.keys import Keys


class Ring:
    def __init__(self):
        self.kept = {}

    def get_password(self, service, username):
        return self.kept.get((service, username))

    def set_password(self, service, username, password):
        self.kept[service, username] = password

    def delete_password(self, service, username):
        del self.kept[service, username]


def test_a_key_in_the_keyring(tmp_path):
    ring = Ring()
    number = Keys(tmp_path, lambda: ring).keep("groq", " gsk_1 \n")
    assert ring.kept == {("weighbridge", "endpoint-groq"): "gsk_1"}
    assert list(tmp_path.iterdir()) == []
    keys = Keys(tmp_path, lambda: ring)
    assert (keys.of("groq", number), keys.of("other", 1)) == ("gsk_1", "")
    keys.forget("groq")
    assert (keys.of("groq", number), ring.kept) == ("", {})


def test_a_key_that_another_process_has_given_is_looked_for_anew(tmp_path):
    keys, other = Keys(tmp_path, lambda: None), Keys(tmp_path, lambda: None)
    first = keys.keep("groq", "one")
    second = other.keep("groq", "two")
    assert first != second
    assert (keys.of("groq", first), keys.of("groq", second)) == ("one", "two")


def test_without_a_keyring_it_is_in_a_file_that_its_owner_alone_can_read(tmp_path):
    keys = Keys(tmp_path, lambda: None)
    number = keys.keep("groq", "gsk_1")
    (file,) = tmp_path.iterdir()
    if sys.platform != "win32":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert Keys(tmp_path, lambda: None).of("groq", number) == "gsk_1"
    keys.forget("groq")
    assert (keys.of("groq", number), list(tmp_path.iterdir())) == ("", [])


@pytest.mark.parametrize("text", ["", "  ", "a b", "a\r\nX: y", "ä", "x" * 513])
def test_what_cannot_be_a_key_is_refused_and_not_shown(tmp_path, text):
    with pytest.raises(Refused) as caught:
        Keys(tmp_path, lambda: None).keep("groq", text)
    assert (caught.value.code, caught.value.values) == ("endpoint.key_form", {})
