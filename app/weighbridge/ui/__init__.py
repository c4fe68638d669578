"""The window. Qt appears here and nowhere else."""
