"""Schemas with what they refer to."""

from __future__ import annotations

import pytest

from odradek.registry import parsing
from odradek.registry.effort import Effort
from odradek.registry.entries import Content, Reference, Version
from odradek.registry.errors import RegistryError
from odradek.registry.parsing import Kept, Parser, needed_by
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


def test_what_is_asked_once_is_not_kept(state: RegistryState) -> None:
    parser = Parser()
    content = Content(OUTER, references=(TO_MIDDLE,))
    assert parser.parsed(state, "s", content, keep=False) is not parser.parsed(state, "s", content)


def test_a_schema_is_visited_once_whichever_ways_lead_to_it() -> None:
    """Each refers twice to the one before it: there are 2^60 ways from the last to the first."""
    state = RegistryState()
    for level in range(60):
        state.replay(schema_record(Version(f"s{level}", 1, level + 1, doubled(level))))
    needed = needed_by(state, "t", doubled(60))
    assert list(needed) == [f"{name}{level}" for level in range(60) for name in "ab"]


def doubled(level: int) -> Content:
    before = tuple(Reference(f"{name}{level - 1}", f"s{level - 1}", 1) for name in "ab")
    return Content(str(level), "JSON", before if level else ())


def test_a_chain_of_references_may_be_longer_than_the_stack() -> None:
    state = RegistryState()
    for level in range(3000):
        before = (Reference(f"r{level - 1}", f"s{level - 1}", 1),) if level else ()
        state.replay(schema_record(Version(f"s{level}", 1, level + 1, Content(str(level), "JSON", before))))
    needed = needed_by(state, "t", Content("", "JSON", (Reference("last", "s2999", 1),)))
    assert list(needed.values()) == list(map(str, range(3000)))


def test_all_that_is_referenced_is_not_too_large(monkeypatch: pytest.MonkeyPatch, state: RegistryState) -> None:
    monkeypatch.setattr(parsing, "_MOST_REFERENCED", 2 * len(INNER))
    names = [Reference(name, "inner", 1) for name in "abc"]
    assert len(needed_by(state, "t", Content(OUTER, references=tuple(names[:2])))) == 2
    with pytest.raises(RegistryError, match=f"schemas of more than {2 * len(INNER)} characters"):
        needed_by(state, "t", Content(OUTER, references=tuple(names)))


@pytest.mark.parametrize("kind", ["AVRO", "JSON"])
def test_what_is_too_deep_or_takes_too_long_is_said(state: RegistryState, kind: str) -> None:
    deep = '{"type":"array","items":' * 2000 + '"int"' + "}" * 2000
    with pytest.raises(RegistryError, match="nested too deeply") as refused:
        Parser(Effort(60)).parsed(state, "s", Content(deep, kind))
    assert refused.value.code == 42201
    with pytest.raises(RegistryError, match="parsing the schema is too expensive") as refused:
        Parser(Effort(0, 0)).parsed(state, "s", Content('{"type":"array","items":"int"}', kind))
    assert refused.value.code == 422


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
def test_registry_schema_that_cannot_be_parsed_is_refused(state: RegistryState, content: Content, why: str) -> None:
    with pytest.raises(RegistryError, match=why) as refused:
        Parser().parsed(state, "outer", content)
    assert refused.value.code == 42201


def test_registry_references_in_a_circle_are_refused(state: RegistryState) -> None:
    """No registry lets one in, but a log may have one."""
    state.replay(schema_record(Version("a", 1, 10, Content(INNER, references=(Reference("b", "b", 1),)))))
    state.replay(schema_record(Version("b", 1, 11, Content(MIDDLE, references=(Reference("a", "a", 1),)))))
    with pytest.raises(RegistryError, match="version 1 of 'a' refers to itself"):
        Parser().parsed(state, "c", Content(OUTER, references=(Reference("a", "a", 1),)))


@pytest.fixture
def sizes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "_EACH", 0)


@pytest.mark.usefixtures("sizes_alone")
def test_those_that_nobody_asked_for_make_room() -> None:
    values: Kept[str, int] = Kept(10)
    values.put("a", 1, 4)
    values.put("b", 2, 4)
    assert values.get("a") == 1
    values.put("c", 3, 6)
    assert [values.get(each) for each in "abc"] == [1, None, 3]
    assert (values.size, repr(values)) == (10, "<Kept: 2 of the size 10>")


@pytest.mark.usefixtures("sizes_alone")
def test_one_that_is_too_large_leaves_the_others() -> None:
    values: Kept[str, int] = Kept(10)
    values.put("a", 1, 10)
    values.put("b", 2, 11)
    assert (values.get("a"), values.get("b")) == (1, None)


@pytest.mark.usefixtures("sizes_alone")
def test_one_that_is_put_again_counts_once() -> None:
    values: Kept[str, int] = Kept(10)
    for size in (10, 3, 7):
        values.put("a", size, size)
        assert (values.get("a"), values.size) == (size, size)


def test_registry_parser_cache_counts_small_schemas_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "_EACH", 100)
    values: Kept[int, int] = Kept(1000)
    for number in range(1000):
        values.put(number, number, 0)
    assert values.size == 1000
