"""Weighbridge weighs a language model before you load it, runs it, and serves it on a local port."""

__version__ = "0.1.0"
