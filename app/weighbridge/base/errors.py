"""The errors that Weighbridge raises on purpose: a code and values, never a sentence.

WeighbridgeError
├── BadFile         a file that cannot be read as what it claims to be
├── NotFound        something asked for by name that is not here
├── Refused         asked for in a way that is not allowed (bad value, full queue, port, Host, Origin)
├── EngineFailed    an engine did not start, or ended, or answered with an error
└── Unreachable     a network place that could not be reached or answered wrongly

Cancelled           the user asked to stop; not a fault, so not in the tree

The sentence for a person is made where it is shown, by `weighbridge.base.explain`, in that person's language.
"""

from __future__ import annotations


class WeighbridgeError(Exception):
    """A fault with a `code` ("file.truncated") and the `values` that its sentence needs.

    Codes are listed in `weighbridge.base.explain`; a test holds that every code raised is explained there.
    """

    def __init__(self, code: str, **values: object) -> None:
        super().__init__(code, values)
        self.code = code
        self.values = values

    def __str__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.values.items())
        return f"{self.code}({shown})"


class BadFile(WeighbridgeError):
    """A file that cannot be read as what it claims to be."""


class NotFound(WeighbridgeError):
    """Something asked for by name that is not here."""


class Refused(WeighbridgeError):
    """Something asked for in a way that is not allowed."""


class EngineFailed(WeighbridgeError):
    """An engine did not start, or ended, or answered with an error. `log` holds its last lines."""

    def __init__(self, code: str, log: tuple[str, ...] = (), **values: object) -> None:
        super().__init__(code, **values)
        self.log = log


class Unreachable(WeighbridgeError):
    """A network place that could not be reached or answered wrongly."""


class Cancelled(Exception):
    """The user asked to stop."""
