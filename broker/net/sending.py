"""Sending large answers: parts as they are, what a file holds through a map that lasts for one call."""

from __future__ import annotations

import os
import socket
from typing import Protocol

from odradek.protocol.file_slice import FileSlice, Part, in_memory, joined

HAS_SENDMSG = hasattr(socket.socket, "sendmsg")
_IOV_MAX = min(1024, os.sysconf("SC_IOV_MAX")) if hasattr(os, "sysconf") else 16
_MOST_AT_ONCE = 8 * 1024 * 1024
"""When so much of an answer was sent the other connections get their turn."""


class Sender(Protocol):
    """The part of a transport that is needed here."""

    def send(self, data: bytes | memoryview, /) -> int: ...

    def sendmsg(self, parts: list[bytes | memoryview], /) -> int: ...


def send_large(transport: Sender, parts: list[Part]) -> list[Part] | None:
    """Send what a transport takes now; returns what is left, None for nothing.

    What is left of a file is no memory of the process.
    """
    if not HAS_SENDMSG:
        parts = [joined(parts)]
    budget = _MOST_AT_ONCE
    while parts and budget > 0:
        try:
            sent = _send(transport, parts, budget)
        except BlockingIOError:
            break
        budget -= sent
        parts, whole = _without(parts, sent)
        if not whole:
            break
    return parts or None


def _send(transport: Sender, parts: list[Part], most: int) -> int:
    """Send the first parts, up to the one that makes `most` bytes of them. Files are mapped as long as this takes."""
    if HAS_SENDMSG:
        return transport.sendmsg(in_memory(_some(parts, most)))
    return transport.send(in_memory(parts[:1])[0])


def _some(parts: list[Part], most: int) -> list[Part]:
    size = 0
    for index, part in enumerate(parts[:_IOV_MAX]):
        size += len(part)
        if size >= most:
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
