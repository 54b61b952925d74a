"""What askers of a shard get."""

from __future__ import annotations

from typing import Any

import pytest
import trio
import trio.testing

from odradek.broker.runtime.effects import Answer
from odradek.broker.runtime.machine import Outcome
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.fakes.shard_stage import Do, Stage


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_an_error_of_the_machine_reaches_the_asker(stage: Stage) -> None:
    def refuse() -> Outcome[Any]:
        raise KafkaError(ErrorCode.ILLEGAL_GENERATION)

    with pytest.raises(KafkaError):
        stage.shard.ask_now(Do(refuse))
    slot = stage.shard.submit(Do(refuse))
    with pytest.raises(KafkaError):
        slot.result()
    assert stage.shard.ask_now(stage.do(reply=1)) == 1


def test_a_parked_command_is_answered_once_by_another(stage: Stage) -> None:
    slot = stage.shard.submit(stage.do(park=7))
    assert not slot.done
    assert stage.shard.parked == 1
    stage.shard.ask_now(stage.do(effects=[Answer(7, "now")]))
    assert slot.result() == "now"
    assert stage.shard.parked == 0
    with pytest.raises(KeyError):
        stage.shard.ask_now(stage.do(effects=[Answer(7, "again")]))


def test_a_command_may_park_and_answer_itself(stage: Stage) -> None:
    slot = stage.shard.submit(stage.do(park=1, effects=[Answer(1, KafkaError(ErrorCode.NOT_COORDINATOR))]))
    with pytest.raises(KafkaError):
        slot.result()


def test_cancelling_an_asker_does_not_cancel_the_command() -> None:
    async def main() -> None:
        stage = Stage()
        with trio.CancelScope() as scope:
            scope.cancel()
            await stage.shard.ask(stage.do([(b"a", b"")], park=1))
        assert scope.cancelled_caught
        assert stage.story == ["decide", "append", "replay a@0"]
        assert stage.shard.parked == 1
        await stage.shard.ask(stage.do(effects=[Answer(1, "nobody listens")]))
        assert stage.shard.parked == 0

    trio.run(main)
