"""Characters that an engine cut in two, put together again."""

from __future__ import annotations

import codecs
import re

_SURROGATE = re.compile("[\ud800-\udfff]")
_NOT_A_BYTE = re.compile("[\ud800-\udc7f\udd00-\udfff]")
_REPLACEMENT = "\ufffd"


class Joiner:
    """Repairs one channel of an answer (its text, or its thinking), piece by piece.

    Two cuts are met: a surrogate pair written as two JSON escapes in two pieces, and the bytes of one character in two
    pieces. The second arrives here as lone surrogates U+DC80..U+DCFF, Python's `surrogateescape`, which the parser
    asks for. A cut tail is held back (`holding`) until the next piece; what cannot be mended becomes one U+FFFD.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._high = ""
        self.holding = False

    def feed(self, piece: str) -> str:
        """What can be shown of the text so far held back and `piece`."""
        if not self.holding and not _SURROGATE.search(piece):
            return piece
        joined = (self._high + piece).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        self._high = joined[-1:] if "\ud800" <= joined[-1:] <= "\udbff" else ""
        return self._decode(joined.removesuffix(self._high), final=False)

    def flush(self) -> str:
        """What was held back, at the end of the stream."""
        rest, self._high = self._high, ""
        return self._decode(rest, final=True)

    def _decode(self, text: str, *, final: bool) -> str:
        raw = _NOT_A_BYTE.sub(_REPLACEMENT, text).encode("utf-8", "surrogateescape")
        shown = self._decoder.decode(raw, final)
        self.holding = bool(self._high or self._decoder.getstate()[0])
        return shown
