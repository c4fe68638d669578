"""Markdown as it streams: closed text is rendered once, its open end again, nothing is ever loaded."""
