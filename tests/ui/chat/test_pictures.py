"""Pictures in the chat: attached, made small, shown with words for who cannot see them, taken away, sent."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QColor, QDropEvent, QImage
from PySide6.QtWidgets import QFileDialog, QPushButton
from tests.engines.made_vision import png
from tests.ui.chat.conftest import MODEL
from tests.ui.fakes import running

from weighbridge.base.errors import Refused
from weighbridge.base.pictures import Picture, picture_in
from weighbridge.ui.chat import attaching
from weighbridge.ui.chat.attaching import LONGEST_SIDE, attached, offered_in
from weighbridge.ui.chat.composer import MOST_PICTURES, Composer
from weighbridge.ui.chat.thumbnails import alt_text
from weighbridge_engines.api import Load


@pytest.fixture
def red(tmp_path):
    path = tmp_path / "red.png"
    path.write_bytes(png(300, 200))
    return path


@pytest.fixture
def seeing(full, monkeypatch):
    """Models are loaded with a projector while this says so."""
    told = {"projector": "/m/mmproj.gguf"}
    supervisor = full.supervisor
    plain, become = supervisor.default_load, supervisor.become

    def with_projector(*now):
        return [replace(one, load=replace(one.load, projector=told["projector"])) for one in now]

    monkeypatch.setattr(supervisor, "default_load", lambda model: replace(plain(model), projector=told["projector"]))
    monkeypatch.setattr(supervisor, "become", lambda bus, *now: become(bus, *with_projector(*now)))
    return told


def mime(*, paths=(), image=None, words=""):
    data = QMimeData()
    if paths:
        data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    if image is not None:
        data.setImageData(image)
    if words:
        data.setText(words)
    return data


def noise(width, height):
    """A picture that no PNG makes small."""
    import random

    data = random.Random(1).randbytes(width * height * 4)
    return QImage(data, width, height, QImage.Format.Format_RGB32).copy()


def test_a_small_one_is_kept_as_it_is(red):
    kept = attached(red)
    assert (kept.kind, kept.width, kept.height, kept.name) == ("png", 300, 200, "red.png")
    assert picture_in(kept.data) == Picture("png", 300, 200)


def test_a_large_one_is_made_smaller_and_a_photograph_a_jpeg(qapp):
    kept = attached(noise(3000, 1500))
    assert (kept.kind, kept.width, kept.height) == ("jpeg", LONGEST_SIDE, LONGEST_SIDE // 2)
    assert picture_in(kept.data) == Picture("jpeg", 2048, 1024)
    assert len(kept.data) < attaching.MOST_KEPT_BYTES


def test_what_can_be_seen_through_stands_on_white(qapp):
    clear = QImage(900, 900, QImage.Format.Format_ARGB32)
    clear.fill(QColor(0, 0, 0, 0))
    seen = attaching._on_white(clear).pixelColor(5, 5)
    assert seen == QColor("white")


@pytest.mark.parametrize(
    ("data", "code"),
    [(b"no picture", "picture.kind"), (png()[:-40] + bytes(9), "picture.unreadable"), (None, "picture.unreadable")],
)
def test_what_is_none_is_refused(tmp_path, qapp, data, code):
    path = tmp_path / "broken.png"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(Refused) as refused:
        attached(path)
    assert refused.value.code == code


def test_what_is_dropped_and_pasted(red, tmp_path, qapp):
    assert offered_in(mime(paths=[red, tmp_path / "model.gguf"])) == [red]
    assert len(offered_in(mime(image=noise(4, 4)))) == 1
    assert offered_in(mime(words="red.png")) == []


@pytest.fixture
def composer(qtbot):
    made = Composer()
    made.set_target("Harbour")
    qtbot.addWidget(made)
    made.show()
    return made


def attach_button(composer):
    return next(one for one in composer.findChildren(QPushButton) if one.text() == "Attach a picture…")


def test_only_where_the_model_sees(composer, red):
    assert attach_button(composer).isHidden() and not composer.acceptDrops()
    composer.set_sees(True)
    assert not attach_button(composer).isHidden() and composer.acceptDrops()
    composer.add_picture(attached(red))
    assert len(composer.pictures) == 1
    composer.set_sees(False)
    assert composer.pictures == ()
    composer.set_sees(True)
    assert len(composer.pictures) == 1


def test_where_nobody_knows_whether_it_sees_that_is_said(composer, red):
    composer.set_sees(None)
    assert not attach_button(composer).isHidden() and composer.acceptDrops()
    assert attach_button(composer).toolTip() == "It is not known whether this model takes pictures."
    assert composer._unknown.isHidden()
    composer.add_picture(attached(red))
    assert not composer._unknown.isHidden() and len(composer.pictures) == 1
    composer.set_sees(True)
    assert composer._unknown.isHidden() and attach_button(composer).toolTip() == ""


def removers(composer):
    return [one for one in composer.findChildren(QPushButton) if one.accessibleName().startswith("Remove")]


def test_a_key_takes_one_away(composer, red, qtbot):
    composer.set_sees(True)
    composer.add_picture(attached(red))
    composer.add_picture(replace(attached(red), name="blue.png"))
    qtbot.waitUntil(lambda: len(removers(composer)) == 2)
    shown = removers(composer)
    assert [one.accessibleName() for one in shown] == [
        "Remove: Picture red.png, 300 by 200 pixels",
        "Remove: Picture blue.png, 300 by 200 pixels",
    ]
    qtbot.keyClick(shown[0], Qt.Key.Key_Delete)
    assert [one.name for one in composer.pictures] == ["blue.png"]


def test_no_more_than_fit_the_smallest_window(seeing, page, red, qtbot):
    page.resize(1000, 640)
    for _ in range(MOST_PICTURES + 1):
        page._attach(attached(red))
    assert page._error.error.code == "picture.too_many"
    page.send("What are these?")
    qtbot.waitUntil(lambda: page.dialogue.answer is None)
    assert len(page.column.items[0].thumbnails.shown) == MOST_PICTURES
    assert page.column.widget().minimumSizeHint().width() <= page.column.viewport().width()


def test_words_are_pasted_as_words_and_pictures_offered(composer, red):
    told = []
    composer.offered.connect(told.append)
    edit = composer._edit
    edit.insertFromMimeData(mime(paths=[red]))
    assert told == []
    composer.clear()
    composer.set_sees(True)
    edit.insertFromMimeData(mime(image=noise(4, 4), words="a table"))
    assert (composer.text, told) == ("a table", [])
    edit.insertFromMimeData(mime(paths=[red]))
    assert told == [[red]]


def test_a_drop_beside_the_text_counts_too(composer, red):
    told = []
    composer.set_sees(True)
    composer.offered.connect(told.append)
    data = mime(paths=[red])
    spot, none = QPointF(2, 2), Qt.KeyboardModifier.NoModifier
    composer.dropEvent(QDropEvent(spot, Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, none))
    assert told == [[red]]


def test_it_is_sent_shown_and_kept(seeing, page, client, qtbot, red, monkeypatch):
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: ([str(red)], ""))
    attach_button(page.composer).click()
    qtbot.waitUntil(lambda: len(page.composer.pictures) == 1)
    page.send("What is this?")
    qtbot.waitUntil(lambda: page.dialogue.answer is None)
    content = client.bodies[-1]["messages"][-1]["content"]
    assert [part["type"] for part in content] == ["image_url", "text"]
    assert page.composer.pictures == ()
    (shown,) = page.column.items[0].thumbnails.shown
    assert shown.accessibleName() == alt_text(page.dialogue.path[0].pictures[0])
    assert "red.png" in shown.accessibleName()
    assert shown.pixmap().width() == 200


def test_editing_keeps_them_and_leaving_does_not(seeing, page, qtbot, red, answered):
    page.composer.add_picture(attached(red))
    answered(page)
    page.column.items[-1].edit_wanted.emit(page.column.items[-1].message)
    assert [one.name for one in page.composer.pictures] == ["red.png"]
    page.composer.leave_edit()
    assert page.composer.pictures == ()


def test_what_is_no_picture_says_so(seeing, page, qtbot, tmp_path, monkeypatch):
    path = tmp_path / "words.png"
    path.write_text("words")
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: ([str(path)], ""))
    attach_button(page.composer).click()
    qtbot.waitUntil(lambda: page._error.error is not None)
    assert page._error.error.code == "picture.kind"
    assert page.composer.pictures == ()


def test_a_model_that_sees_none_is_sent_the_words_alone_and_that_is_said(seeing, page, client, red, answered, full):
    page.composer.add_picture(attached(red))
    answered(page)
    assert "pictures are not sent" not in page._note.text()
    seeing["projector"] = None
    full.supervisor.become(full.bus, running(MODEL))
    assert page._note.text().endswith("pictures are not sent: it sees none")
    assert not page.composer.sees
    answered(page, "And now?")
    assert [one["content"] for one in client.bodies[-1]["messages"] if one["role"] == "user"] == [
        "What is a load line?",
        "And now?",
    ]


def test_one_that_a_changed_load_would_not_see_is_not_sent(seeing, page, client, qtbot, red):
    page.composer.add_picture(attached(red))
    model = page._chosen.model
    page._send("What is this?", page.composer.pictures, model, Load("/m", projector=None))
    assert page._error.error.code == "picture.not_sent"
    assert client.bodies == [] and len(page.composer.pictures) == 1


def test_what_an_engine_sees_without_a_projector_its_answer_tells(page, client, full, red, answered):
    full.supervisor.become(full.bus, replace(running(MODEL), sees_alone=True))
    assert page.composer.sees
    page.composer.add_picture(attached(red))
    answered(page)
    assert [part["type"] for part in client.bodies[-1]["messages"][-1]["content"]] == ["image_url", "text"]
