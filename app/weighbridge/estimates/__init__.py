"""What a model will need, calculated from its header. Pure functions; unknown is None."""
