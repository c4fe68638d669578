"""Text of strangers that wants to reach out: a model's card and an answer, with somebody who listens and counts."""

import socketserver
import threading

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QDesktopServices, QHelpEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QScrollArea, QTextEdit

from weighbridge.ui.discover.card import CardView
from weighbridge.ui.markdown.view import MarkdownView

HOSTILE = """---
thumbnail: {base}/front.png
---
# ![heading]({base}/h.png) <img src="{base}/h2.png">

![x]({base}/p.png?leak=1) ![ref][pic] ![pic] [![nested]({base}/n.png)]({base}/n.html) <{base}/auto> {base}/bare
![unc](//127.0.0.1:{port}/share/x.png) ![unc2](\\\\\\\\127.0.0.1\\\\share\\\\x.png)
![file](file:///etc/hostname) ![qrc](:/x.png)
![js](javascript:fetch('{base}/js')) ![svg](data:image/svg+xml;utf8,<svg><image href="{base}/s.png"/></svg>)

<img src="{base}/i.png" srcset="{base}/i2.png 2x"><picture><source srcset="{base}/pic.png"></picture>
<style>@import url({base}/s.css); p {{ font-size: 9000px; background: url({base}/bg.png) }}</style>
<font size="9999">large</font> <span style="font-size:9000px;background:url({base}/b.png)">styled</span>
<iframe src="{base}/f.html"></iframe><video poster="{base}/v.png" src="{base}/v.mp4"></video>
<link rel="stylesheet" href="{base}/l.css"><script src="{base}/j.js"></script><object data="{base}/o"></object>
<a href="file:///etc/passwd">local</a> [file](file:///etc/passwd) [script](javascript:1) [share](//127.0.0.1/share)
<!-- {base}/c -->

> > > > ![quoted]({base}/q.png) [quoted]({base}/q)
> - ![listed]({base}/li.png)

| a | ![head]({base}/th.png) |
|---|---|
| ![cell]({base}/td.png) | <img src="{base}/td2.png"> |

```html
<img src="{base}/code.png">
```

[pic]: {base}/r.png "title"
[{base}/def]: {base}/def.png

![data](data:image/png;base64,{long})
"""


class _Count(socketserver.BaseRequestHandler):
    def handle(self):
        self.server.seen.append(self.request.recv(100))


@pytest.fixture
def listener():
    server = socketserver.TCPServer(("127.0.0.1", 0), _Count)
    server.seen = []
    thread = threading.Thread(target=server.serve_forever, args=(0.005,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def opened(monkeypatch):
    """The addresses that were handed to the system."""
    handed = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: handed.append(url.toString()))
    return handed


@pytest.fixture
def hostile(listener):
    """The text, by how long the picture in it is."""
    port = listener.server_address[1]
    base = f"http://127.0.0.1:{port}"
    return lambda length: HOSTILE.format(base=base, port=port, long="A" * length)


def use(view):
    """All that a hand does with a text, but for a click on a link."""
    area = QScrollArea(widgetResizable=True)
    area.resize(700, 500)
    area.setWidget(view)
    area.show()
    for step in range(0, 2_000, 400):
        area.verticalScrollBar().setValue(step)
        area.grab()
    for text in view.findChildren(QTextEdit):
        _point_at(text.viewport())
        text.selectAll()
        text.copy()
        text.createMimeDataFromSelection().html()
        text.zoomIn(3)
        text.zoomOut(5)
        _zoom_by_wheel(text.viewport())
        QTest.keyClick(text, Qt.Key.Key_Tab)
        text.createStandardContextMenu().deleteLater()
    area.grab()
    area.takeWidget()


def _point_at(port):
    for y in range(4, min(port.height(), 1_200), 16):
        at = QPoint(30, y)
        QTest.mouseMove(port, at)
        QApplication.sendEvent(port, QHelpEvent(QEvent.Type.ToolTip, at, port.mapToGlobal(at)))


def _zoom_by_wheel(port):
    place = QPointF(port.rect().center())
    turned = QWheelEvent(
        place,
        place,
        QPoint(0, 0),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.ControlModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(port, turned)


def test_nothing_is_asked_while_a_hostile_card_is_read(qtbot, services, listener, opened, hostile):
    card = CardView(services.theme, services.background)
    qtbot.addWidget(card, before_close_func=lambda view: view.discard())
    card.show_card(hostile(10_000_000))
    qtbot.waitUntil(lambda: not card.view.is_drawing)
    use(card)
    assert "image: listed" in "".join(text.toPlainText() for text in card.findChildren(QTextEdit))
    assert (listener.seen, opened) == ([], [])


def test_nothing_is_asked_while_a_hostile_answer_is_written_and_read(qtbot, services, listener, opened, hostile):
    answer = MarkdownView(services.theme, services.background)
    qtbot.addWidget(answer, before_close_func=lambda view: view.discard())
    raw = hostile(400_000)
    for at in range(0, 4_000, 50):
        answer.append(raw[at : at + 50])
    answer.append(raw[4_000:])
    answer.finish()
    qtbot.waitUntil(lambda: not answer.is_drawing)
    use(answer)
    assert (listener.seen, opened) == ([], [])


@pytest.mark.parametrize("address", ["file:///etc/passwd", "javascript:1", "//127.0.0.1/share", "data:text/html,x"])
def test_what_is_no_page_of_the_web_is_shown_and_never_opened(qtbot, services, opened, address):
    card = CardView(services.theme, services.background)
    qtbot.addWidget(card, before_close_func=lambda view: view.discard())
    card.show_card(f"[words]({address})")
    card.view.link_wanted.emit(address)
    assert not [
        made for made in card.links.findChildren(QPushButton) if made.text() == "Open" and made.isVisibleTo(card)
    ]
    card.links.open()
    assert opened == []
