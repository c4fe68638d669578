"""Markdown drawn while it streams; nothing it names is ever loaded."""

import http.server
import threading

import pytest
from PySide6.QtGui import QImage, QTextDocument
from PySide6.QtWidgets import QApplication, QScrollArea

from weighbridge.base.settings import SettingsStore
from weighbridge.ui.background import Background
from weighbridge.ui.markdown.code import CodeView
from weighbridge.ui.markdown.prose import ProseView
from weighbridge.ui.markdown.view import MarkdownView
from weighbridge.ui.theme import Theme

MIXED = """# Load lines

A **load line** marks `code`.

| Mark | Water |
|---|---|
| TF | Tropical fresh |

- one
- two

```python
x = 1  # it is
```

> quoted

Last words."""


@pytest.fixture
def make(qtbot, qapp, tmp_path):
    theme = Theme(qapp, SettingsStore(tmp_path / "settings.toml"))
    background = Background()
    views = []

    def make():
        views.append(MarkdownView(theme, background))
        qtbot.addWidget(views[-1])
        views[-1].resize(600, 100)
        views[-1].show()
        return views[-1]

    make.theme = theme
    yield make
    for view in views:
        view.discard()
    background.close()


def lines(view):
    """What is seen, without empty lines."""
    shown = []
    for at in range(view.layout().count()):
        widget = view.layout().itemAt(at).widget()
        text = widget.code if isinstance(widget, CodeView) else widget.toPlainText()
        shown += [line for line in text.split("\n") if line.strip()]
    return shown


def test_streamed_looks_like_whole(make):
    whole, streamed = make(), make()
    whole.show_text(MIXED)
    for at in range(0, len(MIXED), 3):
        streamed.append(MIXED[at : at + 3])
    streamed.finish()
    assert lines(streamed) == lines(whole)
    assert lines(whole)[:2] == ["Load lines", "A load line marks code."]
    assert (streamed.raw, whole.raw) == (MIXED, MIXED)


def test_the_open_end_is_seen_before_it_closes(make):
    view = make()
    view.append("Half a **sen")
    assert lines(view) == ["Half a **sen"]
    view.append("tence**")
    view._not_before_s = 0
    view.append("")
    assert lines(view) == ["Half a sentence"]


def test_code_grows_is_copied_and_scrolls_inside_once_long(make):
    view = make()
    view.append("```\nfirst\nsec")
    (code,) = view.findChildren(CodeView)
    assert code.code == "first\nsec"
    view.append("ond\n" + "line\n" * 500 + "```\n")
    view.finish()
    code.copy()
    assert QApplication.clipboard().text() == "first\nsecond\n" + "line\n" * 499 + "line"
    assert code.sizeHint().height() < 1000


def test_closed_code_is_coloured(make, qtbot):
    view = make()
    view.show_text("```python\nx = 1  # it is\n```")
    (code,) = view.findChildren(CodeView)
    qtbot.waitUntil(lambda: bool(code._text.document().firstBlock().layout().formats()))
    found = code._text.document().firstBlock().layout().formats()
    assert [(one.start, one.length) for one in found] == [(4, 1), (7, 7)]


def test_code_that_still_grows_is_coloured_too(make, qtbot):
    view = make()
    view.append("```python\nx = 1\n")
    (code,) = view.findChildren(CodeView)
    block = code._text.document().firstBlock()
    qtbot.waitUntil(lambda: bool(block.layout().formats()))
    view.append("y = 22\n")
    qtbot.waitUntil(lambda: bool(block.next().layout().formats()))
    assert [(one.start, one.length) for one in block.next().layout().formats()] == [(4, 2)]


def test_a_theme_change_draws_again_in_its_colours(make):
    view = make()
    view.show_text("[a](https://example.org)")
    make.theme.choose("dark")
    prose = view.layout().itemAt(0).widget()
    colour = prose.document().firstBlock().begin().fragment().charFormat().foreground().color()
    assert colour.name() == make.theme.tokens.accent


def test_a_very_long_text_comes_in_slices(make, qtbot):
    view = make()
    text = "\n\n".join(f"Paragraph {number}" for number in range(4_000))
    view.show_text(text)
    assert len(lines(view)) < 4_000
    qtbot.waitUntil(lambda: len(lines(view)) == 4_000)


def test_a_flood_of_cells_comes_in_slices_and_none_is_laid_out_with_all_others(make, qtbot):
    view = make()
    text = "|a|b|\n|-|-|\n" + "".join(f"|{number}|x|\n" for number in range(1_000))
    view.append(text)
    assert view.is_drawing
    qtbot.waitUntil(lambda: not view.is_drawing)
    view.finish()
    assert lines(view).count("x") == 1_000
    assert max(prose.document().blockCount() for prose in view.findChildren(ProseView)) < 1_000


class _Count(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.seen.append(self.path)
        self.send_error(404)

    def log_message(self, *_):
        pass


@pytest.fixture
def listener():
    server = http.server.HTTPServer(("127.0.0.1", 0), _Count)
    server.seen = []
    thread = threading.Thread(target=server.serve_forever, args=(0.005,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_nothing_is_loaded_and_html_stays_text(make, qapp, listener, tmp_path):
    picture = tmp_path / "local.png"
    QImage(40, 40, QImage.Format.Format_RGB32).save(str(picture))
    base = f"http://127.0.0.1:{listener.server_port}"
    text = f"""![x]({base}/p.png?leak=1) ![ref][r] ![unc](//host/share/x.png)
![local]({picture}) ![file](file://{picture})
![data](data:image/png;base64,{"A" * 10_000}) <img src="{base}/i.png"> <style>p {{ font-size: 900px }}</style>

<a href="file:///etc/passwd">x</a> [x](javascript:1) <link rel="stylesheet" href="{base}/s.css">

> ![quoted]({base}/q.png)

| a |
|---|
| ![cell]({base}/c.png) |

[r]: {base}/r.png
"""
    area = QScrollArea()
    view = make()
    view.show_text(text)
    area.setWidget(view)
    area.show()
    view.grab()
    qapp.processEvents()
    area.takeWidget()
    assert listener.seen == []
    assert not [one for one in _formats(view) if one.isImageFormat()]
    assert "<img src=" in "\n".join(lines(view))


def test_a_resource_asked_for_all_the_same_is_an_empty_picture(make, tmp_path):
    view = make()
    view.show_text("text")
    (prose,) = view.findChildren(ProseView)
    found = prose.document().resource(QTextDocument.ResourceType.ImageResource, f"file://{tmp_path}/x.png")
    assert (found.width(), found.height()) == (1, 1)


def test_a_click_on_a_link_only_tells_its_address(make, qtbot):
    view = make()
    view.show_text("[good bank](https://bänk.example/a?b=1)")
    (prose,) = view.findChildren(ProseView)
    with qtbot.waitSignal(view.link_wanted) as told:
        prose.anchorClicked.emit(prose.document().firstBlock().begin().fragment().charFormat().anchorHref())
    assert told.args == ["https://xn--bnk-qla.example/a?b=1"]


def _formats(view):
    for prose in view.findChildren(ProseView):
        block = prose.document().begin()
        while block.isValid():
            place = block.begin()
            while not place.atEnd():
                yield place.fragment().charFormat()
                place += 1
            block = block.next()
