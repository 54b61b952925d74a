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
from odradek.broker.requests.parked_request import EncodedBody
from odradek.protocol.varint import encode_uvarint

if TYPE_CHECKING:
    from odradek.protocol.file_slice import Part
    from odradek.protocol.message_codec import MessageCodec

_SLICE_NS = 10_000_000
_FIRST_ELEMENTS = 4
_MOST_ELEMENTS = 4096
_ENCODED_AT_ONCE = 256


# -- handling


async def served_in_parts(
    serve: Callable[[Any], Any],
    response_of: Callable[[Any], Any],
    request: Any,
    version: int,
    left: Callable[[], bool],
) -> Any:
    """The answer to a request, made of those to its parts. Raises what `serve` raises.

    `serve`: the handler for a part. `response_of`: waits for the response behind what it returned. `left`: whether
    nobody waits for the answer any more; CloseConnection then.
    """
    levels = levels_of(request, version)
    pace = Pace()
    merged: Any = None
    for part, continued in Cuts(request, levels).parts(pace):
        began_ns = work_ns()
        response = await response_of(serve(part))
        if getattr(response, "error_code", 0):
            return response
        merged = response if merged is None else merge(merged, response, levels, continued=continued)
        pace.took(work_ns() - began_ns)
        await trio.lowlevel.checkpoint()
        if left():
            raise CloseConnection("the client has gone")
    return merged


class Pace:
    """How many elements the next part has, so that it takes about `_SLICE_NS`."""

    __slots__ = ("elements",)

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

    __slots__ = ("_inner", "_outer", "_request")

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
    """A response as parts; its longest list is encoded some elements at a time, so that little is in memory twice.

    Raises CloseConnection for more than `most_bytes`.
    """
    if response.__class__ is EncodedBody:
        return [response.body]
    name = max(response.field_names(), key=lambda field: _length(getattr(response, field)))
    items = getattr(response, name)
    if _length(items) <= _ENCODED_AT_ONCE:
        return codec.encode_parts(response)
    empty = codec.encode(response.replace(**{name: []}))
    one = codec.encode(response.replace(**{name: items[:1]}))
    place = next(at for at, byte in enumerate(empty) if byte != one[at])
    compact = empty[place] == 1  # a count in compact form is one more; others have 32 bits
    head = place if compact else place - 3
    tail = len(empty) - head - _size_of_count(0, compact=compact)
    count = encode_uvarint(len(items) + 1) if compact else len(items).to_bytes(4, "big")
    parts: list[Part] = [empty[:head] + count]
    size = len(parts[0])
    for start in range(0, len(items), _ENCODED_AT_ONCE):
        chunk = items[start : start + _ENCODED_AT_ONCE]
        encoded = codec.encode_parts(response.replace(**{name: chunk}))
        first: Any = encoded[0]
        encoded[0] = first[head + _size_of_count(len(chunk), compact=compact) :]
        last: Any = encoded[-1]
        encoded[-1] = last[: len(last) - tail]
        parts += encoded
        size += sum(map(len, encoded))
        if size > most_bytes:
            raise CloseConnection(f"its answer would be larger than {most_bytes} bytes")
    parts.append(empty[len(empty) - tail :])
    return parts


def _length(value: Any) -> int:
    return len(value) if value.__class__ is list else 0


def _size_of_count(count: int, *, compact: bool) -> int:
    return len(encode_uvarint(count + 1)) if compact else 4
