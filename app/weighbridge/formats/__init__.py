"""Reading model files: what a header says, without trusting it and without loading a weight."""
