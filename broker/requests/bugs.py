"""Bugs: exceptions that the broker's own code should not have raised. What the system refuses is none."""

from __future__ import annotations

import errno
import logging
import traceback
from collections.abc import Callable

from odradek.broker.requests.recent_requests import RecentRequests
from odradek.protocol.errors import ProtocolError
from odradek.protocol.headers import decode_request_header
from odradek.protocol.shown import SECRET_REQUESTS
from odradek.storage.backend import OUT_OF_DESCRIPTORS, StorageError

_log = logging.getLogger("odradek.broker")

_MAX_BUGS = 100
_REFUSALS = {
    errno.EMFILE,
    errno.ENFILE,
    errno.ENOBUFS,
    errno.ENOMEM,
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EIO,
    errno.EROFS,
}
_SILENT_MS = 60_000
"""A refusal of the system is told once in this time."""
_SHOWN_REQUESTS = 20


class UserCodeError(Exception):
    """A user's own code that the broker runs (the condition of a fault) has raised. The text says which code."""


class Bug:
    """One unexpected exception. The client got UNKNOWN_SERVER_ERROR or a cut connection.

    `where`: what the broker was doing. `traceback`: the formatted traceback of `error`. `frame`: the first
    bytes of the request, if there was one; the header alone where the body may hold a password. `last_requests`: the
    requests before it as lines of text, newest last.
    """

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

    Owner: the cluster. `on_bug` is called with each bug that is kept. `now_ms`: the broker's clock.
    """

    def __init__(self, recent: RecentRequests, now_ms: Callable[[], int] = lambda: 0) -> None:
        self._recent = recent
        self._now_ms = now_ms
        self._told: dict[str, int] = {}
        self.bugs: list[Bug] = []
        self.on_bug: Callable[[Bug], None] | None = None

    def report(self, where: str, error: BaseException, frame: bytes = b"") -> None:
        """Keep an exception with the context that helps to find its cause.

        What the system or the medium refuses (descriptors, memory, room on the disk) is logged in one line instead:
        it goes on when there is some again.
        """
        if isinstance(error, StorageError) or (isinstance(error, OSError) and error.errno in _REFUSALS):
            self._tell(where, error)
            return
        text = "".join(traceback.format_exception(error))
        if len(self.bugs) >= _MAX_BUGS or any(bug.traceback == text for bug in self.bugs):
            return
        bug = Bug(where, error, text, _without_secrets(frame), tuple(self._recent.lines()))
        self.bugs.append(bug)
        if self.on_bug is not None:
            self.on_bug(bug)

    def _tell(self, where: str, error: StorageError | OSError) -> None:
        if isinstance(error, StorageError):
            text = str(error.message)
        else:
            from odradek.storage.file_system import said

            text = said(error)
        about = OUT_OF_DESCRIPTORS if OUT_OF_DESCRIPTORS in text else text
        now_ms, told_ms = self._now_ms(), self._told.get(about)
        if told_ms is None or not 0 <= now_ms - told_ms < _SILENT_MS:
            if len(self._told) >= _MAX_BUGS:
                self._told.clear()
            self._told[about] = now_ms
            _log.error("%s: %s", where, text)


def _without_secrets(frame: bytes) -> bytes:
    """The header alone of a request that may hold a password."""
    if len(frame) < 2 or int.from_bytes(frame[:2]) not in SECRET_REQUESTS:
        return frame
    try:
        return frame[: decode_request_header(frame)[1]]
    except ProtocolError:
        return frame[:8]
