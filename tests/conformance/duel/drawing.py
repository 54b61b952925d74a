"""Requests from their declarations: a recipe's fields, the others by their meaning, and in odd ones some changed."""

from __future__ import annotations

import json
from typing import Any

from construct import Construct

from odradek.protocol import primitives as p
from odradek.protocol.apis import API_BY_NAME
from odradek.protocol.json_form import camel_case
from odradek.protocol.message_codec import codec
from tests.conformance.duel.meaning import meant, odd
from tests.conformance.duel.pairing import Form
from tests.conformance.duel.recipes import RECIPES, batch
from tests.conformance.duel.record_data import BREAKS
from tests.conformance.duel.taming import tamed
from tests.conformance.duel.world import World

Path = tuple[str, ...]


class Drawing:
    """Draws the requests of a conversation. `oddness`: the part of requests that no client sends."""

    def __init__(self, world: World, oddness: float) -> None:
        self.world = world
        self.oddness = oddness

    def request(self, api: str, version: int) -> Form:
        """The body of a request, in the JSON form of its version."""
        world = self.world
        body = codec(API_BY_NAME[api].request, version).construct
        strange = world.chance(self.oddness)
        recipe = RECIPES.get(api)
        given = recipe(world, version) if recipe and not (strange and world.chance(0.3)) else {}
        form: Form = self._struct(body, given, (api,), odd_lists=strange and not given)
        if strange:
            for _ in range(world.one((1, 1, 2, 3))):
                self._stray(body, form, (api,))
        return tamed(api, form)

    # -- completing

    def _struct(self, body: p.StructBody, given: Form, path: Path, odd_lists: bool) -> Form:
        form: Form = {}
        for member in body.members:
            name = camel_case(member.name)
            if member.body is None or (member.tag is not None and name not in given and not odd_lists):
                continue
            inner = (*path, name)
            if name in given:
                form[name] = self._completed(member.body, given[name], inner)
            else:
                form[name] = self._drawn(member.body, inner, odd_lists)
        return form

    def _completed(self, body: Construct, given: Any, path: Path) -> Any:
        if given is None:
            return None if isinstance(body, p.NullableStruct) or body.nullable else self._empty(body)
        if isinstance(body, p.NullableStruct):
            body = body.struct
        if isinstance(body, p.StructBody):
            return self._struct(body, given, path, odd_lists=False)
        if isinstance(body, p.ListOf):
            return [self._completed(body.element, each, path) for each in given]
        return given

    def _empty(self, body: Construct) -> Any:
        return [] if isinstance(body, p.ListOf) else ""

    def _drawn(self, body: Construct, path: Path, odd_lists: bool) -> Any:
        world = self.world
        if isinstance(body, p.StructBody):
            return self._struct(body, {}, path, odd_lists)
        if isinstance(body, p.NullableStruct):
            return self._struct(body.struct, {}, path, odd_lists) if odd_lists and world.chance(0.5) else None
        if isinstance(body, p.ListOf):
            if odd_lists and body.nullable and world.chance(0.2):
                return None
            count = world.one((0, 1, 1, 2, 3)) if odd_lists else world.one((1, 1, 1, 1, 2))
            elements = [self._drawn(body.element, path, odd_lists) for _ in range(count)]
            return elements if odd_lists else _distinct(elements)
        if isinstance(body, p.RecordData):
            return self._records(path)
        return odd(world, path, body) if odd_lists and world.chance(0.3) else meant(world, path, body)

    def _records(self, path: Path) -> Any:
        world = self.world
        place = (world.topic(), 0)
        batches = [batch(world, world.producer(), place) for _ in range(world.one((1, 1, 1, 2)))]
        return {"batches": batches} if world.chance(0.95) else world.one(("", "00", "00" * 70))

    # -- straying

    def _stray(self, body: p.StructBody, form: Form, path: Path) -> None:
        """Change one field somewhere."""
        world = self.world
        members = [each for each in body.members if each.body is not None and camel_case(each.name) in form]
        if not members:
            return
        member = world.one(members)
        name = camel_case(member.name)
        inner, value, kind = (*path, name), form[name], member.body
        if isinstance(kind, p.NullableStruct):
            if value is None or world.chance(0.2):
                form[name] = None if value is not None else self._struct(kind.struct, {}, inner, odd_lists=True)
                return
            kind = kind.struct
        if isinstance(kind, p.StructBody):
            self._stray(kind, value, inner)
        elif isinstance(kind, p.ListOf):
            form[name] = self._stray_list(kind, value, inner)
        elif isinstance(kind, p.RecordData):
            form[name] = self._stray_records(value, inner)
        else:
            form[name] = odd(world, inner, kind)

    def _stray_list(self, body: p.ListOf, value: Any, path: Path) -> Any:
        world = self.world
        if value and world.chance(0.6):
            at = world.rng.randrange(len(value))
            if isinstance(body.element, p.StructBody):
                self._stray(body.element, value[at], path)
            else:
                value[at] = odd(world, path, body.element)
            return value
        how = world.rng.randrange(4)
        if how == 0:
            return []
        if how == 1 and body.nullable:
            return None
        if how == 2 and value:
            return [*value, json.loads(json.dumps(world.one(value)))]
        return [*(value or []), self._drawn(body.element, path, odd_lists=True)]

    def _stray_records(self, value: Any, path: Path) -> Any:
        world = self.world
        if not isinstance(value, dict) or world.chance(0.1):
            return self._records(path)
        made = world.one(value["batches"])
        how = world.rng.randrange(7)
        if how == 0:
            made["broken"] = world.one(BREAKS)
        elif how == 1:
            made["baseSequence"] = max(made.get("baseSequence", -1) + world.one((-1, 1, 2, 5)), -1)
        elif how == 2:
            made["producerEpoch"] = max(made.get("producerEpoch", -1) + world.one((-1, 1)), -1)
        elif how == 3:
            made["transactional"] = not made.get("transactional", False)
        elif how == 4:
            made["magic"] = world.one((0, 1))
        elif how == 5:
            made["records"] = []
        else:
            value["batches"].append(json.loads(json.dumps(made)))
        return value


def _distinct(elements: list[Any]) -> list[Any]:
    """Without those that name the same thing again."""
    found: dict[str, Any] = {}
    for each in elements:
        found.setdefault(json.dumps(next(iter(each.values()), None) if isinstance(each, dict) else each), each)
    return list(found.values())
