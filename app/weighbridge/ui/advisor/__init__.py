"""The Advisor: ten questions, and beside them what follows from the answers."""
