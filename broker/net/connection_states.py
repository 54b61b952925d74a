"""The states of a connection: who reads from its socket, whether an answer is owed, and when it may be cut.

README.md shows `RULES` as a table and its transitions as a diagram; a test compares them.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class ConnectionState(Enum):
    """The states of a connection. Its own task leaves each state; a poller, if any, leaves WATCHED and PARKED."""

    __hash__ = object.__hash__  # each is there once, and an Enum's own hash is a call of Python code

    HANDSHAKING = "Handshaking"
    """A TLS client has connected and is not done with its handshake."""
    WATCHED = "Watched"
    """Its next request has not come."""
    SERVING = "Serving"
    """Its own task reads and answers until the socket is empty."""
    PARKED = "Parked"
    """A request waits for what other requests do, or for its deadline. Only a poller parks it; else it is WAITING."""
    WAITING = "Waiting"
    """A request waits in the connection's own task: for a rebalance, a disk, a fault's delay."""
    SENDING = "Sending"
    """An answer waits for room in the socket."""
    MUTED = "Muted"
    """Its client has used more than a quota allows: the next request is read when the throttle time is over."""
    CLOSED = "Closed"
    """Nothing is read or sent any more."""


class Reader(Enum):
    """The reader of the socket."""

    EITHER = "its own task, or the poller"
    TASK = "its own task"
    NOBODY = "nobody"


class Cut(Enum):
    """The times when the server cuts an idle connection."""

    IDLE = "idle for `connections.max.idle.ms`"
    CLIENT_GONE = "its client has gone, or idle for `connections.max.idle.ms`"
    NEVER = "never"


class Rule(NamedTuple):
    """`owes_answer`: a server that stops gives the connection a moment, instead of cutting it at once."""

    reads: Reader
    owes_answer: bool
    cut: Cut
    leads_to: frozenset[ConnectionState]


_S = ConnectionState

RULES: dict[ConnectionState, Rule] = {
    _S.HANDSHAKING: Rule(Reader.TASK, False, Cut.IDLE, frozenset({_S.SERVING, _S.CLOSED})),
    _S.WATCHED: Rule(
        Reader.EITHER, False, Cut.IDLE, frozenset({_S.SERVING, _S.PARKED, _S.WAITING, _S.SENDING, _S.MUTED, _S.CLOSED})
    ),
    _S.SERVING: Rule(
        Reader.TASK, False, Cut.NEVER, frozenset({_S.WATCHED, _S.PARKED, _S.WAITING, _S.SENDING, _S.MUTED, _S.CLOSED})
    ),
    _S.PARKED: Rule(
        Reader.NOBODY, True, Cut.CLIENT_GONE, frozenset({_S.WATCHED, _S.WAITING, _S.SENDING, _S.MUTED, _S.CLOSED})
    ),
    _S.WAITING: Rule(Reader.NOBODY, True, Cut.CLIENT_GONE, frozenset({_S.SERVING, _S.SENDING, _S.MUTED, _S.CLOSED})),
    _S.SENDING: Rule(Reader.NOBODY, True, Cut.CLIENT_GONE, frozenset({_S.SERVING, _S.MUTED, _S.CLOSED})),
    _S.MUTED: Rule(Reader.NOBODY, False, Cut.CLIENT_GONE, frozenset({_S.SERVING, _S.CLOSED})),
    _S.CLOSED: Rule(Reader.NOBODY, False, Cut.NEVER, frozenset()),
}
