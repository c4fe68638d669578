"""Item models over what the core knows."""
