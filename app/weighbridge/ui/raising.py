"""Both ends of the local socket on which a second start asks the first window to come to the front."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from weighbridge.ui.single import PATIENCE_S, name_of

_ASKED, _ANSWERED = b"raise\n", b"raised\n"


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
