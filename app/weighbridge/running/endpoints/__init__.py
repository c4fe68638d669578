"""Servers that someone else runs: where they are, what they serve, and how their models are lent."""
