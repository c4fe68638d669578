"""How fast a model will read a prompt and write an answer, with the reason: see README.md."""
