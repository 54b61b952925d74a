"""Message schemas against another implementation: kio, whose codecs come from Kafka's own definitions."""

from __future__ import annotations

import dataclasses
import datetime
import io
from collections.abc import Iterator
from importlib import import_module
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from generators.messages import snake_case
from odradek.protocol import primitives as p
from odradek.protocol.message import ZERO_UUID, Message, VersionedMessage
from odradek.protocol.message_codec import codec
from odradek.protocol.schema import Versions
from tests.fakes.examples import examples
from tests.protocol.message_strategies import all_messages, instances, versions

kio_serial = pytest.importorskip("kio.serial")

FEW = settings(
    max_examples=examples(2),
    deadline=None,
    database=None,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)


def kio_class(message: type[VersionedMessage], version: int) -> Any:
    """kio's class for a message; None for the records of coordinators and storage, which it does not have."""
    for kind in ("Request", "Response"):
        if hasattr(message, "API_KEY") and message.__name__.endswith(kind):
            path = f"{snake_case(message.__name__.removesuffix(kind))}.v{version}.{kind.lower()}"
            break
    else:
        path = f"{snake_case(message.__name__)}.v{version}.data"
    try:
        return getattr(import_module(f"kio.schema.{path}"), message.__name__)
    except ModuleNotFoundError:
        return None


KNOWN_TO_KIO = [
    message for message in all_messages() if any(kio_class(message, version) for version in versions(message))
]


def our_leaves(body: p.StructBody, message: Message) -> Iterator[Any]:
    """The values of a message in the order of its fields."""
    for member in body.members:
        if member.body is not None:
            yield from _our_leaves(member.body, getattr(message, member.name))


def _our_leaves(body: Any, value: Any) -> Iterator[Any]:
    if isinstance(body, p.NullableStruct):
        body = body.struct
    if value is None or value == ZERO_UUID:
        yield None
    elif isinstance(value, Message):
        yield from our_leaves(body, value)
    elif isinstance(value, list):
        yield len(value)
        for element in value:
            yield from _our_leaves(body.element, element)
    else:
        yield bytes(value) if isinstance(value, memoryview) else value


def kio_leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, UUID):
        yield value.bytes if value.int else None
    elif isinstance(value, datetime.timedelta):
        yield round(value / datetime.timedelta(milliseconds=1))
    elif isinstance(value, datetime.datetime):
        yield round(value.timestamp() * 1000)
    elif isinstance(value, tuple):
        yield len(value)
        for element in value:
            yield from kio_leaves(element)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from kio_leaves(getattr(value, field.name))
    else:
        yield value.value if hasattr(value, "retriable") else value


@pytest.mark.long
@pytest.mark.parametrize("message", KNOWN_TO_KIO, ids=lambda message: message.__name__)
@FEW
@given(data=st.data())
def test_kio_reads_and_writes_the_same(message: type[VersionedMessage], data: st.DataObject) -> None:
    for version in versions(message):
        entity = kio_class(message, version)
        if entity is None:
            continue  # newer than kio
        codec_ = codec(message, version)
        value = data.draw(instances(message, version, for_kio=True))
        encoded = codec_.encode(value)
        theirs, size = kio_serial.entity_reader(entity)(encoded, 0)
        assert size == len(encoded)
        assert list(kio_leaves(theirs)) == list(our_leaves(codec_.construct, value))
        out = io.BytesIO()
        kio_serial.entity_writer(entity)(out, theirs)
        assert codec_.decode(out.getvalue())[0] == value


def test_most_messages_are_compared() -> None:
    """So that a renamed package in kio does not silently empty the comparison."""
    assert len([message for message in KNOWN_TO_KIO if hasattr(message, "API_KEY")]) == 154


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [("3+", [3, 4, 99], [0, 2]), ("0-12", [0, 12], [13]), ("4", [4], [3, 5]), ("none", [], [0, 1])],
)
def test_versions_of_a_field_contain_their_range(text: str, inside: list[int], outside: list[int]) -> None:
    assert all(version in Versions(text) for version in inside)
    assert not any(version in Versions(text) for version in outside)
