"""Conversations with a loaded model.

The tree of messages, the stream of an answer, its figures, and where they are kept.
"""
