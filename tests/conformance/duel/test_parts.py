"""What the duel is made of, without a broker."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from odradek.protocol.apis import API_BY_NAME
from odradek.protocol.json_form import from_json
from odradek.protocol.message_codec import codec
from odradek.protocol.record_batch import iter_batches
from tests.conformance.duel.comparing import Difference, differences
from tests.conformance.duel.drawing import Drawing
from tests.conformance.duel.duel import with_rest
from tests.conformance.duel.known import KNOWN, OLDER, known
from tests.conformance.duel.pairing import Pairing
from tests.conformance.duel.record_data import encoded
from tests.conformance.duel.shrinking import shrunk, with_less
from tests.conformance.duel.steps import Step, read, written
from tests.conformance.duel.taming import SHORT_SESSION_MS
from tests.conformance.duel.ways import THEMES
from tests.conformance.duel.world import Member, Producer, World

ROOT = Path(__file__).parents[3]
DRAWN = sorted({api for apis in THEMES.values() for api in apis})


def filled_world(seed: int) -> World:
    """A world that knows a member of each group and two producers."""
    world = World(random.Random(seed))
    for number, group in enumerate(("g0-${run}", "c0-${run}", "s0-${run}", "z0-${run}")):
        world.members[group] = [Member(f"${{{number}.memberId}}", 1)]
    world.producers = [Producer("${8.producerId}", 0), Producer("${9.producerId}", 1, "x0-${run}")]
    return world


@pytest.mark.parametrize("api", DRAWN)
@pytest.mark.parametrize("oddness", [0.0, 1.0])
def test_each_drawn_request_can_be_sent_in_each_version(api: str, oddness: float) -> None:
    spec = API_BY_NAME[api]
    pairing = Pairing("rabcdefr", 1_700_000_000_000)
    drawing = Drawing(filled_world(1), oddness)
    for version in range(spec.min_version, spec.max_version + 1):
        for _ in range(4):
            form = pairing.resolved(drawing.request(api, version), 0)
            assert codec(spec.request, version).encode(from_json(spec.request, version, form)) is not None


def test_all_apis_of_clients_are_drawn() -> None:
    theirs = {spec.name for spec in API_BY_NAME.values() if spec.on_brokers}
    assert theirs <= set(DRAWN)


def test_ids_of_both_sides_get_one_name() -> None:
    pairing = Pairing("rabcdefr", 0)
    left, right = {"memberId": "duel-1", "producerId": 7}, {"memberId": "duel-2", "producerId": 9}
    pairing.learn(3, left, right)
    assert (
        pairing.shown(left, 0)
        == pairing.shown(right, 1)
        == {
            "memberId": "${3.memberId}",
            "producerId": "${3.producerId}",
        }
    )
    assert pairing.resolved({"a": "${3.memberId}", "b": ["${3.producerId}"]}, 1) == {"a": "duel-2", "b": [9]}


def test_static_members_are_paired_by_their_instance_ids() -> None:
    pairing = Pairing("rabcdefr", 0)
    ids = [[f"{name}-{random.Random(seed + name).randbytes(16).hex()}" for name in "ab"] for seed in "12"]
    made = [[f"{each[:10]}-{each[10:14]}-{each[14:18]}-{each[18:22]}-{each[22:]}" for each in side] for side in ids]
    left = [{"memberId": each} for each in made[0]]
    right = [{"memberId": each} for each in reversed(made[1])]
    pairing.learn(1, {"members": left}, {"members": right})
    assert pairing.shown(left, 0) == pairing.shown(right, 1)[::-1]


def test_an_id_of_a_step_that_was_left_out_stands_for_nothing() -> None:
    assert Pairing("rabcdefr", 0).resolved(["${3.memberId}", "${3.producerId}"], 0) == ["gone", -1]


def test_what_other_runs_left_is_not_shown() -> None:
    pairing = Pairing("rabcdefr", 0)
    assert pairing.shown([{"name": "t0-rabcdefr"}, {"name": "t0-r123456r"}], 0) == [{"name": "t0-${run}"}]


def test_differences_name_the_place() -> None:
    left, right = {"a": [{"b": 1, "c": 2}]}, {"a": [{"b": 1, "c": 3}]}
    assert [each.path for each in differences(left, right, "Api")] == ["Api/a/c"]


def test_times_differ_when_they_are_far_apart() -> None:
    base = 1_700_000_000_000
    assert not list(differences({"timestamp": base}, {"timestamp": base + 19_000}, "Api"))
    assert list(differences({"timestamp": base}, {"timestamp": base + 21_000}, "Api"))
    assert list(differences({"timestamp": -1}, {"timestamp": base}, "Api"))
    assert list(differences({"offset": base}, {"offset": base + 1}, "Api"))


def test_described_batches_become_record_batches() -> None:
    row = {"at": 5, "key": "k", "value": None, "headers": [["h", "1"]]}
    described = {"records": [row], "producerId": 7, "producerEpoch": 1, "baseSequence": 2, "transactional": True}
    (batch,) = iter_batches(encoded([described], 1000))
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence) == (7, 1, 2)
    assert batch.is_transactional
    (record,) = batch.records()
    assert (record.timestamp, record.key, record.value, record.headers) == (1005, b"k", None, (("h", b"1"),))


def test_a_conversation_is_written_and_read() -> None:
    steps = [Step(0, "a", "Metadata", 12, {"topics": None}), Step(1, "b", "JoinGroup", 9, {}, waits=True)]
    assert read(written(steps)) == steps


def test_a_rest_follows_a_member_that_shall_time_out() -> None:
    joins = [Step(3, "a", "JoinGroup", 9, {"sessionTimeoutMs": ms}, waits=True) for ms in (30_000, SHORT_SESSION_MS)]
    (living,), (dying, rest) = map(with_rest, joins)
    assert (living, dying) == tuple(joins)
    assert (rest.api, rest.pause_s * 1000 > 2 * SHORT_SESSION_MS) == ("", True)


def test_shrinking_keeps_the_steps_that_show_a_difference() -> None:
    steps = [Step(number, "a", "Metadata", 0, {"topics": ["x", "y"]}) for number in range(20)]

    def shows(some: Sequence[Step]) -> bool:
        return {3, 17} <= {step.number for step in some} and all("y" in step.body["topics"] for step in some)

    fewest = with_less(shrunk(steps, shows), shows)
    assert [(step.number, step.body) for step in fewest] == [(3, {"topics": ["y"]}), (17, {"topics": ["y"]})]


def test_shrinking_leaves_headers_whole() -> None:
    steps = [Step(0, "a", "Produce", 9, {"records": [{"headers": [["h", None], ["k", "v"]]}]})]
    (fewest,) = with_less(steps, lambda some: bool(some[0].body["records"]))
    assert fewest.body == {"records": [{"headers": []}]}


def test_ids_of_other_conversations_are_not_paired() -> None:
    pairing = Pairing("raaaaaar", 0)
    own, other = {"transactionalId": "x-raaaaaar", "producerId": 5}, {"transactionalId": "x-rbbbbbbr", "producerId": 6}
    pairing.learn(1, {"transactionStates": [other, own]}, {"transactionStates": [{**own, "producerId": 8}]})
    assert pairing.shown(own, 0)["producerId"] == pairing.shown({**own, "producerId": 8}, 1)["producerId"]


def test_only_share_partitions_without_records_or_that_cannot_be_read_may_be_missing() -> None:
    def answer(*codes: int) -> list[Any]:
        return [
            {"topicId": "t", "partitions": [{"partitionIndex": at, "errorCode": code}]} for at, code in enumerate(codes)
        ]

    def is_known(odradek: list[Any], kafka: list[Any]) -> bool:
        return known(Difference("ShareFetch/responses/len", odradek, kafka), Step(0)) is not None

    assert is_known(answer(0), answer(0, -1))
    assert is_known([], answer(-1))
    assert is_known([], answer(0))
    assert not is_known([], [{"topicId": "t", "partitions": [{"errorCode": 0, "records": "00"}]}])
    assert not is_known(answer(0), answer(0, 3))


def test_a_guessed_pair_gives_way_to_one_that_is_known() -> None:
    pairing = Pairing("rabcdefr", 0)
    listed = [{"members": [{"memberId": each} for each in ids]} for ids in (["a1", "b1"], ["b2", "a2"])]
    pairing.learn(1, *listed)
    assert pairing.shown("a1", 0, "memberId") == pairing.shown("b2", 1, "memberId")
    pairing.learn(2, {"memberId": "a1"}, {"memberId": "a2"})
    assert pairing.shown("a1", 0, "memberId") == pairing.shown("a2", 1, "memberId")
    assert pairing.shown("b1", 0, "memberId") == pairing.shown("b2", 1, "memberId")
    pairing.learn(3, {"memberId": "a1"}, {"memberId": "b2"})
    assert pairing.shown("a1", 0, "memberId") == pairing.shown("a2", 1, "memberId")


@pytest.mark.parametrize("line", sorted({each.line for each in (*KNOWN, *OLDER)}))
def test_each_known_difference_has_its_line(line: str) -> None:
    lines = (ROOT / "DIFFERENCES.md").read_text().splitlines()
    assert [each for each in lines if each.startswith(f"- {line}")]
