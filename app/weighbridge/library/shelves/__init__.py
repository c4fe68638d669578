"""Models that other programs have brought here: found and used in place, never written to."""
