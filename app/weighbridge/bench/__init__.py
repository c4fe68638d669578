"""The same prompt through several models and engines: planned, measured, compared, reported."""
