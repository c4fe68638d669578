"""The colours of the window, named by what they mean. No Qt here: a test computes their contrast."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tokens:
    """One scheme. Texts keep 4.5:1 on every surface they stand on, parts of a bar 3:1 against the panel."""

    name: str
    window: str
    panel: str
    line: str
    text: str
    dim: str
    accent: str
    accent_surface: str
    on_accent: str
    accent_pressed: str
    track: str
    fits: str
    tight: str
    partial: str
    no: str
    unknown: str
    fits_surface: str
    tight_surface: str
    partial_surface: str
    no_surface: str
    unknown_surface: str
    weights: str
    kv: str
    state: str
    compute: str
    engine: str
    others: str


LIGHT = Tokens(
    name="light",
    window="#f6f7f9",
    panel="#ffffff",
    line="#dfe3e8",
    text="#1b2330",
    dim="#5d6878",
    accent="#2457d6",
    accent_surface="#e6edfc",
    on_accent="#ffffff",
    accent_pressed="#1b45ad",
    track="#eceff3",
    fits="#1d7a4c",
    tight="#855800",
    partial="#7a4bb3",
    no="#b3261e",
    unknown="#5d6878",
    fits_surface="#e2f3ea",
    tight_surface="#fbf0d6",
    partial_surface="#f0e8fa",
    no_surface="#fbe5e3",
    unknown_surface="#eceff3",
    weights="#3b6fe0",
    kv="#c4770e",
    state="#b05fd1",
    compute="#1f8f84",
    engine="#4f5b6b",
    others="#808b9b",
)

DARK = Tokens(
    name="dark",
    window="#14181f",
    panel="#1b212b",
    line="#2d3542",
    text="#e6eaf0",
    dim="#97a3b4",
    accent="#7aa2ff",
    accent_surface="#22304f",
    on_accent="#10161f",
    accent_pressed="#a3bfff",
    track="#262d38",
    fits="#5fd39a",
    tight="#f0c04d",
    partial="#c7a4f5",
    no="#ff8a80",
    unknown="#97a3b4",
    fits_surface="#153527",
    tight_surface="#3a2f12",
    partial_surface="#32244a",
    no_surface="#43201d",
    unknown_surface="#262d38",
    weights="#6f97ff",
    kv="#f0a64a",
    state="#cf8ff0",
    compute="#4cc9bb",
    engine="#c3cbd6",
    others="#7a8698",
)
