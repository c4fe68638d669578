"""One window a data folder: a second start asks the first window to come to the front.

The first listens on a local socket of this user alone. All that can be asked of it is to come to the front, so whoever
reaches the socket can do nothing worse.
"""

from __future__ import annotations

import hashlib
import os
import time
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from weighbridge.base.errors import BadFile, Refused
from weighbridge.base.locks import OwnerLock

PATIENCE_S = 2.0
"""How long a window may take to answer before it counts as stuck."""
_AGAIN_S = 0.05
_ASKED, _ANSWERED = b"raise\n", b"raised\n"


def name_of(data: Path) -> str:
    """The name of the socket: of this data folder and this user."""
    user = os.environ.get("USERNAME", "") if os.name == "nt" else str(os.getuid())
    whole = f"{data.absolute()}\0{user}".encode("utf-8", "surrogateescape")
    return f"weighbridge-{hashlib.sha256(whole).hexdigest()[:32]}"


def claim(lock: OwnerLock, data: Path) -> bool:
    """Own the data folder, as a window. False where another window owns it, and has come to the front.

    True also where the folder cannot be written to: there is nothing to own then, and the window says so. Raises
    Refused ("owner.…") where something else owns the folder, or the other window does not answer.
    """
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            lock.take("window")
            return True
        except BadFile:
            return True
        except Refused:
            owner = lock.owner()
            left_s = until - time.monotonic()
            if left_s <= 0 or (owner is not None and owner.kind != "window"):
                raise
        if ask_to_raise(name_of(data), left_s):
            return False
        time.sleep(_AGAIN_S)  # it is just beginning, or just ending


def ask_to_raise(name: str, limit_s: float) -> bool:
    """Ask the window that listens as `name` to come to the front; False where none answers in `limit_s`."""
    until = time.monotonic() + limit_s
    socket = QLocalSocket()
    socket.connectToServer(name)
    if not socket.waitForConnected(_left_ms(until)):
        return False
    socket.write(_ASKED)
    answer = b""
    while not answer.endswith(b"\n") and len(answer) < len(_ANSWERED) and socket.waitForReadyRead(_left_ms(until)):
        answer += bytes(socket.readAll().data())
    socket.abort()
    return answer == _ANSWERED


def _left_ms(until: float) -> int:
    return max(0, round((until - time.monotonic()) * 1000))


class Raising(QObject):
    """The first window's side: emits `asked` when a second start asks. Make it only while the data folder is owned."""

    asked = Signal()

    def __init__(self, data: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._connected)
        QLocalServer.removeServer(name_of(data))  # of one that was killed: whoever owned the folder is gone
        self._server.listen(name_of(data))  # where that fails, a second start only says that there is a first

    def close(self) -> None:
        """Listen no more."""
        self._server.close()

    def _connected(self) -> None:
        while (socket := self._server.nextPendingConnection()) is not None:
            socket.setReadBufferSize(len(_ASKED))
            limit = QTimer(socket, singleShot=True, interval=round(PATIENCE_S * 1000))
            limit.timeout.connect(partial(QLocalSocket.abort, socket))
            socket.disconnected.connect(socket.deleteLater)
            socket.readyRead.connect(partial(self._read, socket))
            limit.start()

    def _read(self, socket: QLocalSocket) -> None:
        if socket.bytesAvailable() < len(_ASKED):
            return
        if bytes(socket.readAll().data()) == _ASKED:
            self.asked.emit()
            socket.write(_ANSWERED)
        socket.disconnectFromServer()
