"""Bugs: exceptions that the broker's own code should not have raised."""

from __future__ import annotations

import traceback
from collections.abc import Callable

from odradek.broker.requests.recent_requests import RecentRequests
from odradek.protocol.errors import ProtocolError
from odradek.protocol.headers import decode_request_header
from odradek.protocol.secrets import SECRET_REQUESTS

_MAX_BUGS = 100
_SHOWN_REQUESTS = 20


class UserCodeError(Exception):
    """A user's own code that the broker runs (the condition of a fault) has raised. The text says which code."""


class Bug:
    """One unexpected exception. The client got UNKNOWN_SERVER_ERROR or a cut connection.

    `where`: what the broker was doing. `traceback`: the formatted traceback of `error`. `frame`: the first
    bytes of the request, if there was one; the header alone where the body may hold a password. `last_requests`: the
    requests before it as lines of text, newest last.
    """

    __slots__ = ("error", "frame", "last_requests", "traceback", "where")

    def __init__(
        self, where: str, error: BaseException, traceback: str, frame: bytes, last_requests: tuple[str, ...]
    ) -> None:
        self.where = where
        self.error = error
        self.traceback = traceback
        self.frame = frame
        self.last_requests = last_requests

    def __str__(self) -> str:
        lines = "\n  ".join(self.last_requests[-_SHOWN_REQUESTS:])
        theirs = isinstance(self.error, UserCodeError)
        title = f"not a bug in the broker: {self.error}" if theirs else "bug in the broker"
        return f"{title}: {self.where}\n{self.traceback}\nlast requests:\n  {lines}"

    def __repr__(self) -> str:
        return f"<Bug in {self.where}: {type(self.error).__name__}: {self.error}>"


class BugLog:
    """The bugs of one cluster, at most 100. Each traceback is kept once: a client that tries again adds nothing.

    Owner: the cluster. `on_bug` is called with each bug that is kept.
    """

    __slots__ = ("_recent", "bugs", "on_bug")

    def __init__(self, recent: RecentRequests) -> None:
        self._recent = recent
        self.bugs: list[Bug] = []
        self.on_bug: Callable[[Bug], None] | None = None

    def report(self, where: str, error: BaseException, frame: bytes = b"") -> None:
        """Keep an exception with the context that helps to find its cause."""
        text = "".join(traceback.format_exception(error))
        if len(self.bugs) >= _MAX_BUGS or any(bug.traceback == text for bug in self.bugs):
            return
        bug = Bug(where, error, text, _without_secrets(frame), tuple(self._recent.lines()))
        self.bugs.append(bug)
        if self.on_bug is not None:
            self.on_bug(bug)


def _without_secrets(frame: bytes) -> bytes:
    """The header alone of a request that may hold a password."""
    if len(frame) < 2 or int.from_bytes(frame[:2]) not in SECRET_REQUESTS:
        return frame
    try:
        return frame[: decode_request_header(frame)[1]]
    except ProtocolError:
        return frame[:8]
