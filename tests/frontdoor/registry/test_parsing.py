"""Schemas with what they refer to."""

from __future__ import annotations

import pytest

from odradek.registry.entries import Content, Reference, Version
from odradek.registry.errors import RegistryError
from odradek.registry.parsing import Parser
from odradek.registry.records import schema_record
from odradek.registry.state import RegistryState

INNER = '{"type":"record","name":"Inner","namespace":"a","fields":[]}'
MIDDLE = '{"type":"record","name":"Middle","namespace":"a","fields":[{"name":"i","type":"Inner"}]}'
OUTER = '{"type":"record","name":"Outer","namespace":"a","fields":[{"name":"m","type":"Middle"}]}'
TO_INNER, TO_MIDDLE = Reference("a.Inner", "inner", 1), Reference("a.Middle", "middle", 1)


@pytest.fixture
def state() -> RegistryState:
    made = RegistryState()
    made.replay(schema_record(Version("inner", 1, 1, Content(INNER))))
    made.replay(schema_record(Version("middle", 1, 2, Content(MIDDLE, references=(TO_INNER,)))))
    made.replay(schema_record(Version("json", 1, 3, Content("{}", "JSON"))))
    return made


def test_references_are_followed_to_their_end(state: RegistryState) -> None:
    content = Content(OUTER, references=(TO_MIDDLE,))
    parsed = Parser().parsed(state, "outer", content)
    assert parsed.canonical == OUTER


def test_what_was_understood_is_kept(state: RegistryState) -> None:
    parser = Parser()
    content = Content(OUTER, references=(TO_MIDDLE,))
    assert parser.parsed(state, "outer", content) is parser.parsed(state, "other", content)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (Content(OUTER), "invalid Avro schema"),
        (
            Content(OUTER, references=(Reference("a.Middle", "middle", 2),)),
            "version 2 of 'middle', which does not exist",
        ),
        (Content(OUTER, references=(Reference("x", "json", 1),)), "a schema of the type JSON"),
        (Content("x", "XML"), "unknown schema type 'XML'"),
        (
            Content(OUTER, references=(TO_MIDDLE, Reference("a.Inner", "middle", 1))),
            "two referenced schemas have the name 'a.Inner'",
        ),
    ],
)
def test_what_cannot_be_understood(state: RegistryState, content: Content, why: str) -> None:
    with pytest.raises(RegistryError, match=why) as refused:
        Parser().parsed(state, "outer", content)
    assert refused.value.code == 42201


def test_a_circle_is_found(state: RegistryState) -> None:
    """No registry lets one in, but a log may have one."""
    state.replay(schema_record(Version("a", 1, 10, Content(INNER, references=(Reference("b", "b", 1),)))))
    state.replay(schema_record(Version("b", 1, 11, Content(MIDDLE, references=(Reference("a", "a", 1),)))))
    with pytest.raises(RegistryError, match="version 1 of 'a' refers to itself"):
        Parser().parsed(state, "c", Content(OUTER, references=(Reference("a", "a", 1),)))
