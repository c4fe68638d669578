"""Which engine, format, quantisation and settings suit a machine and what it is wanted for, each with its why."""
