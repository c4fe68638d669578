"""What the live graphs show, and the graphs."""

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QApplication
from tests.ui.fakes import GIB, machine

from weighbridge.hardware.machine import Device, Memory, MemoryKind, Sensors
from weighbridge.ui.memory_parts import Memory as Bar
from weighbridge.ui.memory_parts import Part
from weighbridge.ui.pages.machine_live import LivePanel
from weighbridge.ui.tracks import SPAN_S, Band, Track, tracks

THIN = "\u202f"
SENSORS = Sensors(temperature_c=61.0, load=0.4, power_w=180.0, power_limit_w=200.0)
CARD = Device("cuda0", "nvidia", "RTX 4070", Memory(MemoryKind.DEDICATED, 12 * GIB, 5 * GIB), sensors=SENSORS)
RAM = Bar(
    "RAM",
    16 * GIB,
    (Part("weights", GIB, "A"), Part("kv", GIB, "A"), Part("engine", GIB, "B"), Part("others", 4 * GIB)),
)


def test_the_processor_each_memory_and_what_a_card_tells():
    found = tracks(machine(devices=(CARD,)), 0.125, (RAM,))
    assert [(track.title, track.figure) for track in found] == [
        ("Processor load", f"12{THIN}%"),
        ("RAM", f"7.0 of 16.0{THIN}GiB in use"),
        ("RTX 4070: load", f"40{THIN}%"),
        ("RTX 4070: temperature", f"61{THIN}°C"),
        ("RTX 4070: power", "180 of 200 W"),
    ]
    assert found[4].top == 200.0


def test_memory_is_stacked_by_owner_others_first():
    bands = tracks(machine(), None, (RAM,))[1].bands
    assert [(band.key, band.value // GIB) for band in bands] == [("", 4), ("A", 2), ("B", 1)]
    assert [band.word for band in bands] == ["Everything else", "A", "B"]
    assert bands[1].colour != bands[2].colour


def test_what_a_card_does_not_tell_has_no_track_and_an_unknown_load_no_band():
    quiet = replace(CARD, sensors=Sensors())
    found = tracks(machine(devices=(quiet,)), None, ())
    assert [track.key for track in found] == ["cpu"]
    assert found[0].figure == "unknown"
    assert found[0].bands == ()


@pytest.fixture
def live(qtbot, services):
    now = [0.0]
    made = LivePanel(services.theme, clock=lambda: now[0])
    made.now = now
    qtbot.addWidget(made)
    made.resize(800, 300)
    made.show()
    return made


def single(value, key="cpu"):
    return Track(key, "Load", f"{value}", 1.0, (Band(key, "accent", value),))


def colours(graph, ago_s):
    """The colours of what was drawn for `ago_s` seconds ago, from the top."""
    QApplication.processEvents()  # lays it out
    image = graph._canvas.grab().toImage()
    column = round(image.width() * (1 - ago_s / SPAN_S))
    return [image.pixelColor(column, line).name() for line in range(2, image.height() - 2)]


def test_the_newest_is_at_the_right_and_a_higher_value_is_drawn_higher(live, services):
    for at_s, value in ((0.0, 0.2), (5.0, 0.2), (10.0, 0.8), (15.0, 0.8)):
        live.now[0] = at_s
        live.add([single(value)])
    graph = live.graphs["cpu"]
    assert graph.figure == "0.8"
    track = services.theme.tokens.track
    before = [colour for colour in colours(graph, 12) if colour == track]
    now = [colour for colour in colours(graph, 2) if colour == track]
    assert 0 < len(now) < len(before)
    assert set(colours(graph, 45)) == {track}


def test_only_the_last_minute_is_kept_and_a_pause_is_a_gap(live, services):
    for at_s in (0.0, 1.0, 50.0, 100.0, 101.0):
        live.now[0] = at_s
        live.add([single(0.5)])
    graph = live.graphs["cpu"]
    assert [at_s for at_s, _ in graph._canvas._moments] == [50.0, 100.0, 101.0]
    assert set(colours(graph, 30)) == {services.theme.tokens.track}


def test_graphs_come_and_go_with_their_tracks(live):
    live.add([single(0.1), single(0.2, "gpu")])
    first = live.graphs["cpu"]
    live.add([single(0.3)])
    assert list(live.graphs) == ["cpu"]
    assert live.graphs["cpu"] is first
    assert "Load 0.3" in first.accessibleName()
