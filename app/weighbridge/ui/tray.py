"""The icon in the system's tray while the window is closed and the rest goes on."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from weighbridge.base.words import text
from weighbridge.ui.download_words import total_in_words
from weighbridge.ui.downloads import Downloads
from weighbridge.ui.icons import icon
from weighbridge.ui.port_control import PortControl, PortState
from weighbridge.ui.theme import Theme

_SIDE = 64


def tray_there() -> bool:
    """Whether this desktop has a tray now."""
    return QSystemTrayIcon.isSystemTrayAvailable()


class Tray(QObject):
    """Shown from its making to `close`. `opened` and `quitted` tell what the user chose."""

    opened = Signal()
    quitted = Signal()

    def __init__(self, theme: Theme, port: PortControl, downloads: Downloads, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._port = port
        self._downloads = downloads
        self._menu = QMenu()
        self._state = QAction()
        self._state.setEnabled(False)
        self._switch = QAction()
        self._fetched = QAction()
        self._fetched.setEnabled(False)
        self._fill()
        self._icon = QSystemTrayIcon(icon("weighbridge", theme.tokens.accent, size=_SIDE), self)
        self._icon.setContextMenu(self._menu)
        self._icon.activated.connect(self._activated)
        port.changed.connect(self._show_port)
        downloads.changed.connect(self._show_downloads)
        self._show_port()
        self._show_downloads()
        self._icon.show()

    @property
    def menu(self) -> QMenu:
        """Its menu."""
        return self._menu

    def tell(self) -> None:
        """Say where the window went."""
        what = text("Weighbridge goes on in the tray: the port, loaded models and downloads stay. Its menu ends it.")
        self._icon.showMessage("Weighbridge", what, self._icon.icon())

    def close(self) -> None:
        """Take the icon away."""
        self._port.changed.disconnect(self._show_port)
        self._downloads.changed.disconnect(self._show_downloads)
        self._icon.hide()
        self._menu.deleteLater()
        self.deleteLater()

    def _fill(self) -> None:
        show, leave = QAction(text("Open the window"), self._menu), QAction(text("Quit"), self._menu)
        show.triggered.connect(self.opened)
        leave.triggered.connect(self.quitted)
        self._switch.triggered.connect(self._turn)
        self._menu.addAction(show)
        self._menu.addSeparator()
        self._menu.addActions([self._state, self._switch, self._fetched])
        self._menu.addSeparator()
        self._menu.addAction(leave)

    def _show_port(self) -> None:
        address = self._port.address
        self._state.setText(text("Port open at {address}", address=address) if address else text("The port is off."))
        self._switch.setText(text("Open the port") if self._is_off() else text("Close the port"))
        self._tell_all()

    def _show_downloads(self) -> None:
        self._fetched.setText(total_in_words(self._downloads.snapshot))
        self._fetched.setVisible(bool(self._fetched.text()))
        self._tell_all()

    def _tell_all(self) -> None:
        said = ("Weighbridge", self._state.text(), self._fetched.text())
        self._icon.setToolTip("\n".join(line for line in said if line))

    def _is_off(self) -> bool:
        return self._port.state in (PortState.OFF, PortState.CLOSING)

    def _turn(self) -> None:
        (self._port.open if self._is_off() else self._port.close)()

    def _activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason is QSystemTrayIcon.ActivationReason.Trigger:
            self.opened.emit()
