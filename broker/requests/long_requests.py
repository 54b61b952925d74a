"""Long requests give way: other clients are served while one with many elements is decoded, handled and encoded.

A frame above the `long_bytes` of its handler is long. Long requests of all clients take turns, so at most one of them
is in memory, and others wait for one slice of work at most, whoever sends how many. Decoding and encoding happen in a
worker thread. A handler that is registered with `in_parts` is called with some elements after the other, for about
`_SLICE_NS` at a time; its answers are merged. Any other handler is called once: its whole list takes part in what it
does, and `odradek.request.max.elements` bounds how long that takes. A request in parts that changes nothing ends when
its client hangs up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import trio

from odradek.broker.clock import work_ns
from odradek.broker.requests.context import CloseConnection
from odradek.broker.requests.error_answers import Level, levels_of
from odradek.broker.requests.parked_request import EncodedBody, EncodedParts, response_of
from odradek.broker.worker import in_thread
from odradek.protocol.varint import encode_uvarint

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.protocol.file_slice import Part
    from odradek.protocol.message_codec import MessageCodec

_SLICE_NS = 10_000_000
_FIRST_ELEMENTS = 4
_MOST_ELEMENTS = 4096
_ENCODED_AT_ONCE = 256
_CHUNK_BYTES = 1 << 20


# -- handling


async def served_in_parts(
    serve: Callable[[Any], Any],
    clock: BrokerClock,
    request: Any,
    version: int,
    left: Callable[[], bool],
    chunks: Chunks | None = None,
) -> Any:
    """The answer to a request, made of those to its parts. Raises what `serve` raises.

    `serve`: the handler for a part. `left`: whether nobody waits for the answer any more; CloseConnection then.
    `chunks`: encode what is answered at once.
    """
    levels = levels_of(request, version)
    pace = Pace() if chunks is None else Pace(1)
    merged: Any = None
    for part, continued in Cuts(request, levels).parts(pace):
        began_ns = work_ns()
        response = await response_of(serve(part), clock)
        if getattr(response, "error_code", 0):
            return response
        if chunks is None:
            merged = response if merged is None else merge(merged, response, levels, continued=continued)
        pace.took(work_ns() - began_ns)
        if chunks is not None:
            merged = response
            await in_thread(chunks.add, response)
        await trio.lowlevel.checkpoint()
        if left():
            raise CloseConnection("the client has gone")
    return merged if chunks is None else EncodedParts(merged, chunks.parts())


class Pace:
    """How many elements the next part has, so that it takes about `_SLICE_NS`."""

    def __init__(self, elements: int = _FIRST_ELEMENTS) -> None:
        self.elements = elements

    def took(self, ns: int) -> None:
        """So long took the last part."""
        if ns > _SLICE_NS:
            self.elements = max(self.elements // 4, 1)
        elif ns < _SLICE_NS // 4:
            self.elements = min(self.elements * 2, _MOST_ELEMENTS)


class Cuts:
    """Cuts a request at its outer list (`topics`), and at the list in an element of that (`partitions`)."""

    def __init__(self, request: Any, levels: tuple[Level, ...]) -> None:
        self._request = request
        self._outer = levels[0].asked
        self._inner = levels[1].asked if len(levels) > 1 else ""

    def parts(self, pace: Pace) -> Iterator[tuple[Any, bool]]:
        """(a request, whether it goes on with the last element of the one before); at least one.

        A part has about as many elements as the pace says, both lists together.
        """
        items: list[Any] = []
        left, continued = pace.elements, False
        for item in getattr(self._request, self._outer) or ():
            inner = (getattr(item, self._inner) or ()) if self._inner else ()
            start = 0
            while True:
                if items and left <= 0:
                    yield self._with(items), continued
                    items, left, continued = [], pace.elements, start > 0
                room = max(left - 1, 1)
                taken = inner[start : start + room]
                items.append(item if len(taken) == len(inner) else item.replace(**{self._inner: taken}))
                start += room
                left -= 1 + len(taken)
                if start >= len(inner):
                    break
                left = 0
        yield self._with(items), continued

    def _with(self, items: list[Any]) -> Any:
        return self._request.replace(**{self._outer: items})


def merge(merged: Any, response: Any, levels: tuple[Level, ...], *, continued: bool) -> Any:
    """`merged` with what a later part answers; `continued`: its first element belongs to the last one of `merged`."""
    answered: list[Any] = getattr(merged, levels[0].answered)
    new: list[Any] = getattr(response, levels[0].answered)
    if continued and answered and new:
        inner = levels[1].answered
        getattr(answered[-1], inner).extend(getattr(new[0], inner))
        new = new[1:]
    answered.extend(new)
    return merged


# -- encoding


def encoded_in_chunks(codec: MessageCodec[Any], response: Any, most_bytes: int) -> list[Part]:
    """A response as parts. Raises CloseConnection for more than `most_bytes`."""
    if response.__class__ is EncodedBody:
        return [response.body]
    name = max(response.field_names(), key=lambda field: _length(getattr(response, field)))
    if _length(getattr(response, name)) <= 1:
        return codec.encode_parts(response)
    chunks = Chunks(codec, name, most_bytes)
    chunks.add(response)
    return chunks.parts()


class Chunks:
    """A response that is encoded some elements of its longest list at a time, so that little is in memory twice."""

    def __init__(self, codec: MessageCodec[Any], name: str, most_bytes: int) -> None:
        """`name`: of the list. `most_bytes`: of the whole."""
        self._codec = codec
        self._name = name
        self._most_bytes = most_bytes
        self._parts: list[Part] = []
        self._size = self._count = 0
        self._pace = _FIRST_ELEMENTS
        self._empty = b""
        self._head = self._tail = 0

    def add(self, response: Any) -> None:
        """Encode the elements of a response, the other fields of which are those of the first.

        Raises CloseConnection when there are more than `most_bytes`.
        """
        items = getattr(response, self._name)
        if not self._empty:
            self._empty = self._codec.encode(response.replace(**{self._name: []}))
        if not items:
            return
        if not self._count:
            self._find_list(response.replace(**{self._name: items[:1]}))
        start = 0
        while start < len(items):
            chunk = items[start : start + self._pace]
            start += len(chunk)
            encoded = self._codec.encode_parts(response.replace(**{self._name: chunk}))
            first: Any = encoded[0]
            encoded[0] = first[self._head + _size_of_count(len(chunk), compact=self._compact) :]
            last: Any = encoded[-1]
            encoded[-1] = last[: len(last) - self._tail]
            size = sum(map(len, encoded))
            self._parts += encoded
            self._count += len(chunk)
            self._size += size
            if self._size > self._most_bytes:
                raise CloseConnection(f"its answer would be larger than {self._most_bytes} bytes")
            if size < _CHUNK_BYTES:
                self._pace = min(self._pace * 2, _ENCODED_AT_ONCE)
            else:
                self._pace = max(self._pace // 4, 1)

    def parts(self) -> list[Part]:
        """All that was added."""
        if not self._count:
            return [self._empty]
        count = encode_uvarint(self._count + 1) if self._compact else self._count.to_bytes(4, "big")
        return [self._empty[: self._head] + count, *self._parts, self._empty[len(self._empty) - self._tail :]]

    @property
    def _compact(self) -> bool:
        """A count in compact form is one more; others have 32 bits."""
        return self._empty[self._head] == 1

    def _find_list(self, with_one: Any) -> None:
        one = self._codec.encode(with_one)
        place = next(at for at, byte in enumerate(self._empty) if byte != one[at])
        self._head = place if self._empty[place] == 1 else place - 3
        self._tail = len(self._empty) - self._head - _size_of_count(0, compact=self._compact)


def _length(value: Any) -> int:
    return len(value) if value.__class__ is list else 0


def _size_of_count(count: int, *, compact: bool) -> int:
    return len(encode_uvarint(count + 1)) if compact else 4
