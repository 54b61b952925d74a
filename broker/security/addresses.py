"""The address of a client, in the one form that everything compares and shows: Java's.

Access control, quotas, limits, logs and descriptions get an address only in this form (`Server` makes it where it
accepts a connection): IPv4 with dots, also where it comes mapped into IPv6 (a listener on `[::]`); IPv6 as
`InetAddress.getHostAddress` has it, eight groups without leading zeros, with the number of its scope.
"""

from __future__ import annotations

import socket
import struct
from typing import Any

_GROUPS = struct.Struct(">8H")
_MAPPED = bytes(10) + b"\xff\xff"


def host_of(address: Any) -> str:
    """The host of a socket's address: `127.0.0.1`, `0:0:0:0:0:0:0:1`, `fe80:0:0:0:0:0:0:1%2`."""
    host: str = address[0]
    if ":" not in host:
        return host
    packed = socket.inet_pton(socket.AF_INET6, host.partition("%")[0])
    if packed.startswith(_MAPPED):
        return socket.inet_ntoa(packed[len(_MAPPED) :])
    text = ":".join(f"{group:x}" for group in _GROUPS.unpack(packed))
    return f"{text}%{address[3]}" if address[3] else text


def resolved(name: str) -> str:
    """The first address that a name stands for; OSError if it stands for none."""
    try:
        return host_of(socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)[0][4])
    except ValueError as error:  # a text that can be no name: too long, empty between dots, a null character
        raise OSError(0, str(error)) from None
