"""The models that are on this machine: finding them, naming them, and getting a first one."""
