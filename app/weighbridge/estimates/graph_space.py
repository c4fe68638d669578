"""The memory of a graph while it is computed: pieces are taken and given back in the graph's order.

Source: ggml's graph allocator (`ggml_dyn_tallocr_alloc`, `ggml_dyn_tallocr_free_bytes`). Which hole a tensor falls into
decides how long the whole becomes, so its rules are followed to the letter. All sizes are of 32-bit floats.
"""

from __future__ import annotations

ALIGNED_TO = 8
_ENDLESS = 1 << 60

Piece = tuple[int, int] | None
"""Where a tensor lies, and how long it is; None for one of no length."""
Holes = tuple[tuple[int, ...], tuple[int, ...]]
"""Starts and lengths; the last one is all that lies behind."""

EMPTY: Holes = (0,), (_ENDLESS,)


class Space:
    """A buffer as long as it has to be, with these holes at first. `peak` is how long it became since."""

    def __init__(self, holes: Holes = EMPTY) -> None:
        self._starts = list(holes[0])
        self._sizes = list(holes[1])
        self.peak = 0

    @property
    def holes(self) -> Holes:
        """Where there is room, and how much: two spaces with the same holes go on alike."""
        return tuple(self._starts), tuple(self._sizes)

    def take(self, size: int) -> Piece:
        """The smallest hole that is large enough, the last of equals; where there is none, the end."""
        if size <= 0:
            return None
        size = -(-size // ALIGNED_TO) * ALIGNED_TO
        sizes, last = self._sizes, len(self._sizes) - 1
        best, least = last, _ENDLESS
        for number in range(last):
            if size <= sizes[number] <= least:
                best, least = number, sizes[number]
        start = self._starts[best]
        if sizes[best] == size and best != last:
            del self._starts[best], sizes[best]
        else:
            self._starts[best] += size
            if best != last:
                sizes[best] -= size
        self.peak = max(self.peak, start + size)
        return start, size

    def give(self, *pieces: Piece) -> None:
        """Pieces that nobody looks at any more, one after the other."""
        for piece in pieces:
            if piece is not None:
                self._give(*piece)

    def _give(self, start: int, size: int) -> None:
        starts, sizes = self._starts, self._sizes
        at = 0
        while at < len(starts) and starts[at] < start:
            at += 1
        if at and starts[at - 1] + sizes[at - 1] == start:
            at -= 1
            sizes[at] += size
        else:
            starts.insert(at, start)
            sizes.insert(at, size)
        if at + 1 < len(starts) and starts[at] + sizes[at] == starts[at + 1]:
            sizes[at : at + 2] = [_ENDLESS if at + 2 == len(sizes) else sizes[at] + sizes[at + 1]]
            del starts[at + 1]
