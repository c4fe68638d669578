"""Data that Weighbridge ships: tables, icons, translations.

`path(name)` is the only way to a resource; it works from a checkout, a wheel and a one-folder build alike: in each the
data lies beside this file. (`importlib.resources` would do the same and cost 11 ms at every start.)
"""

from pathlib import Path

_HERE = Path(__file__).parent


def path(name: str) -> Path:
    """The file or folder `name` (with forward slashes) inside the resources."""
    return _HERE / name
