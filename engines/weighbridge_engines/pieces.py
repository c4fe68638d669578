"""Bytes of tokens made into text: whole characters, cut at a stop text. Pure."""

from __future__ import annotations

import codecs
from collections.abc import Sequence


class Pieces:
    """One answer's text. A character that is split over tokens waits for its rest, and so does what may become a stop
    text. What is no character becomes U+FFFD. `stopped` is true once a stop text came; it is not part of the text.
    """

    def __init__(self, stop: Sequence[str] = ()) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._stop = tuple(text for text in stop if text)
        self._held = ""
        self.stopped = False

    def feed(self, data: bytes) -> str:
        """What may be shown now that `data` came; may be empty."""
        return self._released(self._decoder.decode(data))

    def rest(self) -> str:
        """The answer has ended: what was still held back."""
        if self.stopped:
            return ""
        text = self._released(self._decoder.decode(b"", final=True))
        held, self._held = self._held, ""
        return text if self.stopped else text + held

    def _released(self, text: str) -> str:
        if self.stopped or not text:
            return ""
        whole = self._held + text
        found = [place for place in map(whole.find, self._stop) if place >= 0]
        if found:
            self.stopped, self._held = True, ""
            return whole[: min(found)]
        keep = max((_begun(whole, stop) for stop in self._stop), default=0)
        self._held = whole[len(whole) - keep :]
        return whole[: len(whole) - keep]


def _begun(text: str, stop: str) -> int:
    """How many characters at the end of `text` are the beginning of `stop`."""
    most = min(len(text), len(stop) - 1)
    return next((size for size in range(most, 0, -1) if text.endswith(stop[:size])), 0)
