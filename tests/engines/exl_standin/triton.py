"""Is there."""
