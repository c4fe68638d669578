"""The chat page: conversations, messages, the live strip under an answer, and how the model is loaded and sampled."""
