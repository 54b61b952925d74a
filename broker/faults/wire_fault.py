"""Faults below the API: what happens to the bytes of an answer, and to connections."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from functools import partial
from typing import Any, Literal

import trio

from odradek.broker.faults.fault import Condition, Fault, Serve, Step, check_choice
from odradek.broker.mistakes import checked
from odradek.protocol.file_slice import Part, joined
from odradek.protocol.message import Message

How = Literal["close", "reset", "half-close", "stall"]
_HOW = ("close", "reset", "half-close", "stall")
_BATCH_HEADER = 61
_BATCH_LENGTH_AT, _BATCH_LENGTH_END = 8, 12
_MOST_PIECES = 10_000


class WireFault(Fault):
    """A fault in the bytes of matching answers, or in new connections.

    The conditions, `times`, `skip`, `delay_ms`, `hits` and `wait` are those of `Fault`. The request is served. Then
    one of these happens to the `n` bytes of its answer, its size of 4 bytes included; TLS carries them unchanged:

    - `cut_after`: so many bytes arrive, and the connection ends as `how` says: ``"close"`` (FIN), ``"reset"`` (RST),
      ``"half-close"`` (FIN, but further requests are read and served, and never answered), ``"stall"`` (the same
      without any end).
    - `stall_after`: so many bytes arrive, and the rest `stall_ms` later on the broker's clock.
    - `pieces`: the answer arrives in pieces of so many bytes, each `pause_ms` after the one before.
    - `flip`: a bit of this byte is another one, counted from 0, or back from the end with -1; ``"records"`` is the last
      byte of the first record batch, so that a client that checks finds a wrong CRC. An answer without that byte
      arrives as it is.

    ``WireFault(on="connect", how="reset", node=2)`` does as `how` says with connections as soon as they are accepted;
    `listener` names the only one that it is for, and `client_id`, `api` and the like are not known then.

    ValueError for anything but one thing to do, and for numbers that make no sense.
    """

    __slots__ = ("cut_after", "flip", "how", "listener", "on", "pause_ms", "pieces", "stall_after", "stall_ms")

    @checked
    def __init__(
        self,
        api: str | int | None = None,
        times: int | None = None,
        when: Condition | None = None,
        *,
        cut_after: int | None = None,
        how: How = "close",
        stall_after: int | None = None,
        stall_ms: int = 0,
        pieces: int | None = None,
        pause_ms: int = 0,
        flip: int | Literal["records"] | None = None,
        on: Literal["request", "connect"] = "request",
        listener: str | None = None,
        delay_ms: int = 0,
        node: int | None = None,
        topic: str | None = None,
        partition: int | None = None,
        group: str | None = None,
        client_id: str | None = None,
        transactional_id: str | None = None,
        skip: int = 0,
    ) -> None:
        check_choice("on", on, ("request", "connect"))
        check_choice("how", how, _HOW)
        super().__init__(
            api,
            times,
            when,
            delay_ms=delay_ms,
            node=node,
            topic=topic,
            partition=partition,
            group=group,
            client_id=client_id,
            transactional_id=transactional_id,
            skip=skip,
        )
        self.cut_after = cut_after
        self.how = how
        self.stall_after = stall_after
        self.stall_ms = stall_ms
        self.pieces = pieces
        self.pause_ms = pause_ms
        self.flip = flip
        self.on = on
        self.listener = listener
        if on == "connect":
            self._check_connect()
        else:
            self._check_answer()

    @property
    def acts(self) -> bool:
        return True

    @property
    def tampers(self) -> bool:
        return True

    def on_connect(self, node_id: int, listener: str) -> Serve | None:
        if self.on != "connect" or self.node not in (None, node_id) or self.listener not in (None, listener):
            return None
        if self._is_used_up or self._skips():
            return None
        self.note_hit()
        return partial(serve_badly, how=self.how)

    def matches(self, context: Any, request: Any) -> bool:
        if self.on == "connect" or self.listener not in (None, context.connection.listener):
            return False
        return super().matches(context, request)

    def steps_of(self, parts: list[Part], response: Any) -> list[Step]:
        data = joined(parts)
        if self.cut_after is not None:
            return [Step(data[: self.cut_after]), Step(None, end=self.how)]
        if self.stall_after is not None:
            return [Step(data[: self.stall_after]), Step(data[self.stall_after :], self.stall_ms)]
        if self.pieces is not None:
            size = max(self.pieces, -(-len(data) // _MOST_PIECES))
            return [Step(data[at : at + size], self.pause_ms if at else 0) for at in range(0, len(data), size)]
        return [Step(_flipped(data, self.flip, response))]

    # -- checks

    def _told(self) -> list[str]:
        given = {"cut_after": self.cut_after, "stall_after": self.stall_after, "pieces": self.pieces, "flip": self.flip}
        return [name for name, value in given.items() if value is not None]

    def _check_answer(self) -> None:
        told = self._told()
        if len(told) != 1:
            both = " and ".join(told) or "nothing"
            raise ValueError(f"a wire fault does one of cut_after, stall_after, pieces, flip to an answer, not {both}")
        for name in ("cut_after", "stall_after", "stall_ms", "pause_ms"):
            if (getattr(self, name) or 0) < 0:
                raise ValueError(f"{name}={getattr(self, name)}: a number of bytes or milliseconds is not negative")
        if self.pieces is not None and self.pieces < 1:
            raise ValueError(f"pieces={self.pieces}: a piece has at least one byte")
        if self.how != "close" and self.cut_after is None:
            raise ValueError(f"how={self.how!r} says how cut_after ends the connection")
        if self.stall_after is not None and not self.stall_ms:
            raise ValueError("stall_after needs stall_ms; for a rest that never comes use cut_after with how='stall'")
        if self.stall_ms and self.stall_after is None:
            raise ValueError(f"stall_ms={self.stall_ms} goes with stall_after")
        if self.pause_ms and self.pieces is None:
            raise ValueError(f"pause_ms={self.pause_ms} goes with pieces")
        if self.flip is not None and self.flip != "records" and not isinstance(self.flip, int):
            raise ValueError(f"flip={self.flip!r}: the number of a byte, or 'records'")

    def _check_connect(self) -> None:
        told = self._told()
        about = ("api", "when", "topic", "partition", "group", "client_id", "transactional_id", "delay_ms")
        told += [name for name in about if getattr(self, name)]
        if told:
            raise ValueError(f"a new connection has asked nothing: on='connect' goes without {', '.join(told)}")

    def __repr__(self) -> str:
        text = super().__repr__().removeprefix("Fault(").removesuffix(")")
        own = {name: getattr(self, name) for name in self.__slots__}
        own |= {"how": own["how"] if own["how"] != "close" or self.on == "connect" else None}
        own |= {"on": None if self.on == "request" else self.on}
        zeros = ("cut_after", "stall_after", "flip")
        shown = [f"{key}={value!r}" for key, value in own.items() if value or (value == 0 and key in zeros)]
        return f"WireFault({', '.join(filter(None, (text, *shown)))})"


def _flipped(data: bytes, at: int | str | None, response: Any) -> bytes:
    """The answer with one bit changed; as it is where it has no such byte."""
    position = _end_of_first_batch(data, response) if at == "records" else at
    if not isinstance(position, int) or not -len(data) <= position < len(data):
        return data
    changed = bytearray(data)
    changed[position] ^= 1
    return bytes(changed)


def _end_of_first_batch(data: bytes, response: Any) -> int | None:
    """The position of the last byte of the first record batch in the answer."""
    for records in _records(response) if isinstance(response, Message) else ():
        header = records[:_BATCH_HEADER]
        start = data.find(header)
        if len(header) == _BATCH_HEADER and start >= 0:
            length = int.from_bytes(header[_BATCH_LENGTH_AT:_BATCH_LENGTH_END], "big")
            return min(start + _BATCH_LENGTH_END + length, start + len(records)) - 1
    return None


def _records(item: Message) -> Iterator[bytes]:
    """The fields of an answer that hold record batches."""
    for field, value in item._values():
        if field == "records" and value:
            yield joined(value) if isinstance(value, list | tuple) else bytes(value)
        for inner in value if isinstance(value, list) else (value,):
            if isinstance(inner, Message):
                yield from _records(inner)


RESET = struct.pack("ii", 1, 0)
"""For SO_LINGER: closing tells the client's system to forget the connection (RST)."""
_READ_AWAY = 64 * 1024


async def serve_badly(sock: socket.socket, how: str) -> None:
    """Do as a fault says; "half-close" and "stall" read on, and answer nothing, until the client is gone."""
    with sock:
        try:
            if how == "reset":
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            elif how in ("half-close", "stall"):
                sock.setblocking(False)
                if how == "half-close":
                    sock.shutdown(socket.SHUT_WR)
                await _read_away(sock)
        except OSError:
            pass  # the client has gone


async def _read_away(sock: socket.socket) -> None:
    while True:
        await trio.lowlevel.wait_readable(sock)
        if not sock.recv(_READ_AWAY):
            return
