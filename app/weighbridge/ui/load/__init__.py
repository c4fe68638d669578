"""Loading with settings: the sheet in the window, and what it decides."""
