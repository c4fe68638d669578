"""Servers that someone else runs, on the page Engines: added by their address, asked what they serve, removed."""
