"""Engines: the contract, the adapters, and the worker that hosts library engines.

Nothing here imports anything but the standard library at module level, and nothing of the program: a worker may run
under another environment's Python.
"""
