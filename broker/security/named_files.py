"""Files that a config names: key stores, trust stores, key sets. A client may change such a config."""

from __future__ import annotations

import os
import stat

_SAFELY = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
MOST_BYTES = 4 << 20


def read_named(path: str | os.PathLike[str]) -> bytes:
    """The content of a regular file of at most `MOST_BYTES`, links followed; OSError for anything else.

    Nothing else is opened: a pipe would keep the broker waiting, a device has no end.
    """
    _check(os.stat(path))
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | _SAFELY)
    with open(descriptor, "rb") as file:
        _check(os.fstat(descriptor))  # another one may have come in between
        data: bytes | None = file.read(MOST_BYTES + 1)
    if data is None:  # there is nothing to read yet, as in /proc/kmsg
        raise OSError(0, "it is no regular file")
    if len(data) > MOST_BYTES:  # it has grown
        raise _too_large()
    return data


def _check(status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise OSError(0, "it is a folder")
    if not stat.S_ISREG(status.st_mode):
        raise OSError(0, "it is no regular file")
    if status.st_size > MOST_BYTES:
        raise _too_large()


def _too_large() -> OSError:
    return OSError(0, f"it has more than {MOST_BYTES} bytes")
