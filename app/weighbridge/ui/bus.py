"""What parts of the window tell each other, as signals of one object made at the start.

A part emits what happened or what the user asked for; it does not know who listens.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal


class Bus(QObject):
    """Lives in the GUI thread. Model ids are those of `library.model.Model.id`."""

    page_wanted = Signal(str)
    """Show a page: by its name in `sidebar.PAGES`."""

    chat_wanted = Signal(str)
    """Chat with this model; the chat page takes it, the window shows the page."""

    speed_told = Signal(str, object, bool)
    """The decode speed of a model now, tokens per second, or None when no answer is being written; and whether it was
    counted here, out of pieces of text: for the top bar.
    """

    scan_wanted = Signal()
    """Look at the model folders again; the library page takes it."""

    library_changed = Signal()
    """The library was scanned again; read it anew."""

    header_read = Signal()
    """More is known of a model of the Library: its whole header was read. Emitted from the thread that read it."""

    speed_kept = Signal()
    """How fast an answer was is kept. Emitted from the recorder's thread."""

    running_changed = Signal()
    """Something about the running engines changed; read `supervisor.running()` anew."""

    downloads_changed = Signal()
    """Something about the downloads changed; read `downloads.snapshot` anew. At most five times a second."""

    network_changed = Signal()
    """There is more in `network.requests`. At most five times a second."""

    place_wanted = Signal(object)
    """Show the model that has the file at this Path; the library page takes it, the window shows the page."""

    add_wanted = Signal(object)
    """Add what lies at these Paths, a list, to the Library; the library page takes it, the window shows the page."""

    load_wanted = Signal(str, object)
    """Load this model with settings; the window shows the sheet. They begin as this Load says; None: as the model
    would be loaded.
    """

    load_made = Signal(str, object)
    """The user has just had this model loaded as this Load says: whoever loads it next keeps to that."""

    unmet_found = Signal(object)
    """A load will not fit: the window asks, by this `asking.Unmet`, what to do. None: nobody waits for that now."""

    build_wanted = Signal(str)
    """Show a build of an engine, by its id or the engine's; the page Engines takes it, the window shows the page."""

    switch_wanted = Signal()
    """Let the user choose the model by typing a part of its name; the window does."""

    find_wanted = Signal(object)
    """Look for what this hub.hits.Query says; the page Discover takes it, the window shows the page."""

    endpoint_wanted = Signal(str)
    """Let the user add a server by this preset; the page Engines takes it, the window shows the page."""

    endpoint_shown = Signal(str)
    """Show an endpoint by its id; the page Engines takes it, the window shows the page."""

    sign_in_wanted = Signal()
    """Let the user sign in at the Hub; the page Network takes it, the window shows the page."""

    account_changed = Signal()
    """The Hub is asked as somebody else from now on: with another token, or with none."""

    failed = Signal(object)
    """An error (BaseException) that belongs to no page: the window shows it."""
