"""Sending large answers: parts as they are, what a file holds by its descriptor."""

from __future__ import annotations

import os
import socket
import sys
from typing import TYPE_CHECKING, Protocol

from odradek.protocol.file_slice import FileSlice, Part, in_memory, joined

if TYPE_CHECKING:
    from collections.abc import Callable

HAS_SENDMSG = hasattr(socket.socket, "sendmsg")
_SENDS_FILES = sys.platform == "linux"
_IOV_MAX = min(1024, os.sysconf("SC_IOV_MAX")) if hasattr(os, "sysconf") else 16
_VIEWED_AT_ONCE = 8 * 1024 * 1024
_MOST_AT_ONCE = 8 * 1024 * 1024
"""So much is sent of an answer before the other connections get their turn."""


class Sender(Protocol):
    """The part of a transport that is needed here."""

    def send(self, data: bytes | memoryview, /) -> int: ...

    def sendmsg(self, parts: list[bytes | memoryview], /) -> int: ...


def send_large(transport: Sender, parts: list[Part]) -> list[Part] | None:
    """Send what a transport takes now; returns what is left, None for nothing.

    What is left of a file is no memory of the process. ConnectionError when a file is shorter than its slice.
    """
    send: Callable[[list[Part], int], int]
    if _SENDS_FILES and transport.__class__ is socket.socket:
        assert isinstance(transport, socket.socket)
        sock = transport

        def send(parts: list[Part], most: int) -> int:
            return _send_files(sock, parts, most)

    elif HAS_SENDMSG:

        def send(parts: list[Part], most: int) -> int:
            return transport.sendmsg(in_memory(_some(parts)))

    else:
        parts = [joined(parts)]

        def send(parts: list[Part], most: int) -> int:
            return transport.send(in_memory(parts[:1])[0])

    budget = _MOST_AT_ONCE
    while parts and budget > 0:
        try:
            sent = send(parts, budget)
        except BlockingIOError:
            break
        budget -= sent
        parts, whole = _without(parts, sent)
        if not whole:
            break
    return parts or None


def _send_files(sock: socket.socket, parts: list[Part], most: int) -> int:
    """Send the parts up to the next slice of a file, or that slice."""
    first = parts[0]
    if isinstance(first, FileSlice):
        sent = os.sendfile(sock.fileno(), first.source.descriptor, first.offset, min(first.length, most))
        if sent == 0:
            raise ConnectionError("a segment was cut while an answer was under way")
        return sent
    run: list[bytes | memoryview] = []
    for part in parts[:_IOV_MAX]:
        if isinstance(part, FileSlice):
            return sock.sendmsg(run, (), socket.MSG_MORE)
        run.append(part)
    return sock.sendmsg(run)


def _some(parts: list[Part]) -> list[Part]:
    """The first parts, as many as one call takes, and no more of files than has to be looked at."""
    size = 0
    for index, part in enumerate(parts[:_IOV_MAX]):
        size += len(part)
        if size >= _VIEWED_AT_ONCE:
            return parts[: index + 1]
    return parts[:_IOV_MAX]


def _without(parts: list[Part], sent: int) -> tuple[list[Part], bool]:
    """What is left behind the first `sent` bytes, and whether whole parts were sent."""
    index = 0
    while index < len(parts) and sent >= len(parts[index]):
        sent -= len(parts[index])
        index += 1
    left = parts[index:]
    if not sent:
        return left, True
    first = left[0]
    left[0] = first.after(sent) if isinstance(first, FileSlice) else memoryview(first)[sent:]
    return left, False
