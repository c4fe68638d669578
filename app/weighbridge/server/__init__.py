"""The local port that other programs use: OpenAI's routes, in front of whatever engine runs the model."""
