"""One command at a time."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.runtime.effects import Effect
from tests.fakes.shard_stage import Note, Stage


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_commands_of_effects_wait_for_their_turn(stage: Stage) -> None:
    slots: list[Any] = []

    def perform(effect: Effect) -> None:
        slots.append(stage.shard.submit(stage.do([(b"second", b"")], reply="second")))
        stage.story.append("submitted")

    stage.shard._steps._perform = perform
    stage.shard.ask_now(stage.do([(b"first", b"")], effects=[Note("")], reply="first"))
    assert stage.story == [
        "decide",
        "append",
        "replay first@0",
        "submitted",
        "decide",
        "append",
        "replay second@1",
    ]
    assert slots[0].result() == "second"
