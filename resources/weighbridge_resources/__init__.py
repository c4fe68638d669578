"""Data that Weighbridge ships: tables, icons, translations.

`path(name)` is the only way to a resource; it works from a checkout, a wheel and a frozen build alike.
"""

from importlib.resources import files
from pathlib import Path


def path(name: str) -> Path:
    """The file or folder `name` (with forward slashes) inside the resources."""
    return Path(str(files(__name__).joinpath(name)))
