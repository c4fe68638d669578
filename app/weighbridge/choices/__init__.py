"""One weighed model: what it is, where it would lie, its verdict, and who can run it. The same for every list."""
