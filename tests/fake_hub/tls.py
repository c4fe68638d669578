"""A certificate for loopback, made anew each time."""

from __future__ import annotations

import ssl
from pathlib import Path


def certify(folder: Path) -> tuple[ssl.SSLContext, Path]:
    """What a server needs, and the file of the authority that a client has to trust."""
    import trustme

    made = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.issue_cert("127.0.0.1", "localhost").configure_cert(context)
    authority = folder / "authority.pem"
    made.cert_pem.write_to_path(str(authority))
    return context, authority
