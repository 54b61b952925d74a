"""Principals: the identity of a connection."""

from __future__ import annotations

USER = "User"


class Principal:
    """A kind (nearly always `User`) and a name; immutable.

    Two principals are equal if kind and name are: `token_authenticated` only says how the client logged in (KIP-48).
    """

    __slots__ = ("_hash", "kind", "name", "token_authenticated")

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
