"""The Hugging Face Hub: what lies there, and bringing it here whole and verified: see README.md."""
