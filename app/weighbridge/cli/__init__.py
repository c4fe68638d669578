"""The command line: one module a command, without Qt, nothing heavy before it is needed."""
