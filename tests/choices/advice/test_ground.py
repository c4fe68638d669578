"""What the advice looks at: the models that are files here."""

from dataclasses import replace
from pathlib import Path

from weighbridge.base.errors import BadFile
from weighbridge.choices.advice.ground import shelf_of
from weighbridge.library.model import ENDPOINT, Model, Reach, Remote
from weighbridge_engines.api import Load


def test_what_is_damaged_and_what_is_served_elsewhere_is_not_on_the_shelf():
    path = Path("/models/a.gguf")
    whole = Model("a", "a", path, (path,), "gguf", "Q8_0", 1 << 30)
    damaged = replace(whole, id="b", problem=BadFile("gguf.magic", path="b"))
    remote = Remote("box", "Box", "c", Reach.NETWORK)
    served = replace(whole, id="c@box", parts=(), format=ENDPOINT, size_bytes=0, remote=remote)
    shelf = shelf_of([whole, damaged, served], lambda *_: None, lambda _: Load("a"))
    assert shelf.models == (whole,)
