"""What the first bytes of a picture say."""

import struct

import pytest
from tests.engines.made_vision import png

from weighbridge.base.pictures import Picture, picture_in

FRAME = b"\xff\xc2" + struct.pack(">HBHH", 17, 8, 30, 40) + bytes(10)
APPLICATION = b"\xff\xe1" + struct.pack(">H", 6) + b"\xff\xc0Ex"


@pytest.mark.parametrize(
    ("data", "picture"),
    [
        (png(64, 48), Picture("png", 64, 48)),
        (b"\xff\xd8" + APPLICATION + FRAME, Picture("jpeg", 40, 30)),
        (b"GIF89a" + struct.pack("<HH", 7, 9), Picture("gif", 7, 9)),
        (b"BM" + bytes(16) + struct.pack("<ii", 5, -6), Picture("bmp", 5, 6)),
    ],
)
def test_kind_and_size(data, picture):
    assert picture_in(data) == picture


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"RIFF\0\0\0\0WEBP",
        png()[:20],
        png(0, 5),
        b"\xff\xd8\xff",
        b"\xff\xd8" + APPLICATION,
        b"\xff\xd8\xff\xe0\x00\x00" + bytes(50),
        b"\xff\xd8\xff\xe0\x00\x04abcd" + FRAME,
    ],
)
def test_what_is_none_or_ends_too_early(data):
    assert picture_in(data) is None


def test_a_picture_can_ask_for_more_than_it_is_long():
    start = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + struct.pack(">II", 60000, 60000)
    assert picture_in(start).megapixels == 3_600
    assert (Picture("png", 8000, 8000).megapixels, Picture("png", 8001, 8000).megapixels) == (64, 65)
