"""Who a client is: its principal, and its address in the one form that everything compares and shows, Java's.

Access control, quotas, limits, logs and descriptions get an address only in this form (`Server` makes it where it
accepts a connection): IPv4 with dots, also where it comes mapped into IPv6 (a listener on `[::]`); IPv6 as
`InetAddress.getHostAddress` has it, eight groups without leading zeros, with the number of its scope.
"""

from __future__ import annotations

import socket
import struct
from typing import Any

USER = "User"


class Principal:
    """A kind (nearly always `User`) and a name; immutable.

    Two principals are equal if kind and name are: `token_authenticated` only says how the client logged in (KIP-48).
    """

    kind: str
    name: str
    token_authenticated: bool

    def __init__(self, kind: str, name: str, token_authenticated: bool = False) -> None:
        put = object.__setattr__
        put(self, "kind", kind)
        put(self, "name", name)
        put(self, "token_authenticated", token_authenticated)
        put(self, "_hash", hash((kind, name)))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a principal does not change: {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a principal does not change: {name}")

    @classmethod
    def parse(cls, text: str) -> Principal:
        """Parse `User:alice`, the form that `str()` writes.

        The name may contain colons. ValueError for other text. As in Kafka, neither part may be empty.
        """
        kind, colon, name = text.partition(":")
        if not (kind and colon and name):
            raise ValueError(f"expected a string in format principalType:principalName but got {text}")
        return cls(kind, name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Principal) and self.kind == other.kind and self.name == other.name

    def __hash__(self) -> int:
        return int(getattr(self, "_hash"))  # noqa: B009

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"

    def __repr__(self) -> str:
        return f"Principal({self.kind!r}, {self.name!r})"


ANONYMOUS = Principal(USER, "ANONYMOUS")
"""The principal of a client that has not logged in."""


# -- Addresses.

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
