"""Xet's storage in a folder, which hf_xet itself fills and reads: `local://DIR`."""

from __future__ import annotations

import threading
from pathlib import Path

from tests.fake_hub.content import Content


class LocalXet:
    """A storage in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.address = f"local://{folder}"
        self._stored: dict[Content, str] = {}
        self._lock = threading.Lock()

    def store(self, content: Content) -> str:
        """Puts content there and returns the hash by which Xet knows it."""
        with self._lock:
            if content not in self._stored:
                self._stored[content] = self._upload(content)
            return self._stored[content]

    def _upload(self, content: Content) -> str:
        import hf_xet

        with hf_xet.XetSession().new_upload_commit(endpoint=self.address) as commit:
            stream = commit.start_upload_stream(sha256=hf_xet.SKIP_SHA256)
            for piece in content.pieces(0, content.size):
                stream.write(bytes(piece))
            told = stream.finish()
        return str(told.xet_info.hash)
