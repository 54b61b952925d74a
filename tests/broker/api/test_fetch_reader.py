"""What a fetch reads: partitions, limits, isolation, epochs, sessions and errors, as recorded from Kafka 4.3.1."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.protocol.control import EndTxnMarker, build_end_txn_batch
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
)
from odradek.protocol.message_codec import codec
from odradek.storage.partition_log import AppendOrigin
from tests.fakes.data_plane import START_MS, DataPlane, offsets_of, partitions_of, size_of
from tests.fakes.nodes import set_leader

BATCH = 79
"""Bytes of a batch of one record as `DataPlane.batch` makes it with the value sizes used here."""


@pytest.fixture
def plane() -> DataPlane:
    """`a-0` holds 4 batches of one record each, `a-1` two, `b-0` one; `empty-0` none."""
    plane = DataPlane(topics={"a": 2, "b": 1, "empty": 1})
    for topic, partition, count in (("a", 0, 4), ("a", 1, 2), ("b", 0, 1)):
        for _ in range(count):
            plane.produce(topic, plane.batch(), partition=partition)
    return plane


@pytest.fixture
def batch_size(plane: DataPlane) -> int:
    return len(plane.batch())


def one(response: FetchResponse) -> Any:
    (data,) = partitions_of(response)
    return data


def shape(data: Any) -> tuple[int, int, int, int]:
    """(error code, high watermark, last stable offset, log start offset)."""
    return data.error_code, data.high_watermark, data.last_stable_offset, data.log_start_offset


# -- reading


@pytest.mark.parametrize("version", range(4, 19))
def test_every_version_reads(plane: DataPlane, version: int) -> None:
    data = one(plane.fetch({"a": 1}, version=version))
    assert offsets_of(data) == [1, 2, 3]
    assert shape(data) == (0, 4, 4, 0)
    assert data.aborted_transactions is None
    assert data.preferred_read_replica == -1


def test_at_the_end_there_is_nothing(plane: DataPlane) -> None:
    data = one(plane.fetch({"a": 4}))
    assert shape(data) == (0, 4, 4, 0)
    assert data.records == b""


def test_records_are_views_of_the_log(plane: DataPlane) -> None:
    assert all(isinstance(part, memoryview) for part in one(plane.fetch({"a": 0})).records)


@pytest.mark.parametrize("offset", [-5, 5, 1_000_000])
def test_offsets_out_of_range(plane: DataPlane, offset: int) -> None:
    data = one(plane.fetch({"a": offset}))
    assert shape(data) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1, -1, -1)
    assert (data.aborted_transactions, data.records) == (None, b"")


def test_unknown_topics_and_partitions(plane: DataPlane) -> None:
    for wanted in ({"nope": 0}, {"a": [(77, 0)]}, {"a": [(-3, 0)]}):
        data = one(plane.fetch(wanted))
        assert shape(data) == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1, -1, -1)
        assert (data.aborted_transactions, data.records) == ([], b"")
    assert one(plane.fetch({"nope": 0}, version=13)).error_code == ErrorCode.UNKNOWN_TOPIC_ID
    assert one(plane.fetch({"a": [(77, 0)]}, version=13)).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_unknown_partitions_are_answered_behind_the_others(plane: DataPlane) -> None:
    response = plane.fetch({"nope": 0, "a": [(9, 0), (1, 0)], "b": 0})
    found = [(topic.topic, data.partition_index) for topic in response.responses for data in topic.partitions]
    assert found == [("a", 1), ("b", 0), ("nope", 0), ("a", 9)]


@pytest.mark.parametrize("session", [(0, -1), (0, 0)])
def test_of_a_partition_named_twice_the_last_counts(plane: DataPlane, session: tuple[int, int]) -> None:
    data = one(plane.fetch({"a": [(0, 0), (0, 3)]}, session=session))
    assert offsets_of(data) == [3]


def test_negative_limits(plane: DataPlane) -> None:
    for limits in ({"max_bytes": -1}, {"partition_max_bytes": -1}):
        data = one(plane.fetch({"a": 0}, max_wait_ms=5000, **limits))
        assert shape(data) == (ErrorCode.UNKNOWN_SERVER_ERROR, -1, -1, -1)
        assert shape(one(plane.fetch({"a": 4}, **limits))) == (0, 4, 4, 0), "nothing to read, nothing to trip over"


def test_an_unknown_isolation_level(plane: DataPlane) -> None:
    response = plane.fetch({"a": 0}, isolation_level=9)
    assert response.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert shape(one(response)) == (ErrorCode.UNKNOWN_SERVER_ERROR, -1, -1, -1)


def test_an_unknown_isolation_level_is_nothing_where_there_is_nothing_to_read(plane: DataPlane) -> None:
    assert plane.fetch({}, isolation_level=9).error_code == 0
    assert one(plane.fetch({"nonesuch": 0}, isolation_level=9)).error_code == 3


def test_nothing_asked_for_is_answered_at_once(plane: DataPlane) -> None:
    assert plane.fetch({}, max_wait_ms=60_000) == FetchResponse()


# -- limits


def test_the_limit_of_a_partition_cuts_at_batches(plane: DataPlane, batch_size: int) -> None:
    assert offsets_of(one(plane.fetch({"a": 0}, partition_max_bytes=2 * batch_size + 10))) == [0, 1]
    assert offsets_of(one(plane.fetch({"a": 0}, partition_max_bytes=2 * batch_size))) == [0, 1]


@pytest.mark.parametrize("limit", [0, 10])
def test_the_first_batch_comes_whatever_the_limits(plane: DataPlane, limit: int) -> None:
    response = plane.fetch({"a": [(0, 1), (1, 0)], "b": 0}, partition_max_bytes=limit)
    assert [offsets_of(each) for each in partitions_of(response)] == [[1], [], []]
    response = plane.fetch({"empty": 0, "a": [(0, 1), (1, 0)]}, max_bytes=limit)
    assert [offsets_of(each) for each in partitions_of(response)] == [[], [1], []]


def test_the_limit_of_the_response_is_shared_in_order(plane: DataPlane, batch_size: int) -> None:
    response = plane.fetch({"a": [(0, 0), (1, 0)], "b": 0}, max_bytes=5 * batch_size)
    assert [offsets_of(each) for each in partitions_of(response)] == [[0, 1, 2, 3], [0], []]


def test_the_broker_has_a_limit_of_its_own(batch_size: int) -> None:
    plane = DataPlane(topics={"a": 1}, config={"fetch.max.bytes": "1024"})
    for _ in range(20):
        plane.produce("a", 1)
    assert size_of(one(plane.fetch({"a": 0}))) <= 1024


# -- isolation


def transactions(plane: DataPlane) -> None:
    """On `t-0`: producer 1 aborts 0-1 (marker 2), producer 2 commits 3 (marker 4), producer 3 has 5-6 open, then 7."""
    partition = plane.topic("t").partitions[0]

    def data(producer_id: int, count: int, sequence: int = 0) -> None:
        batch = plane.batch(
            count, producer_id=producer_id, producer_epoch=0, base_sequence=sequence, transactional=True
        )
        partition.append(batch, now_ms=START_MS)

    def marker(producer_id: int, commit: bool) -> None:
        end = EndTxnMarker(commit, 0)
        batch = build_end_txn_batch(end, producer_id=producer_id, producer_epoch=0, timestamp=START_MS)
        partition.append(batch, now_ms=START_MS, origin=AppendOrigin.COORDINATOR)

    data(1, 2)
    marker(1, False)
    data(2, 1)
    marker(2, True)
    data(3, 2)
    plane.produce("t", 1)


def test_read_committed_ends_at_the_stable_offset_and_names_the_aborted(plane: DataPlane) -> None:
    transactions(plane)
    data = one(plane.fetch({"t": 0}, isolation_level=1))
    assert shape(data) == (0, 8, 5, 0)
    assert max(offsets_of(data)) == 4
    assert [(each.producer_id, each.first_offset) for each in data.aborted_transactions] == [(1, 0)]
    later = one(plane.fetch({"t": 3}, isolation_level=1))
    assert later.aborted_transactions == []
    assert one(plane.fetch({"t": 5}, isolation_level=1)).records == b""


def test_read_uncommitted_reads_all(plane: DataPlane) -> None:
    transactions(plane)
    data = one(plane.fetch({"t": 0}))
    assert max(offsets_of(data)) == 7
    assert shape(data) == (0, 8, 5, 0)
    assert data.aborted_transactions is None


# -- leaders and epochs


def test_leader_epochs_are_checked(plane: DataPlane) -> None:
    data = one(plane.fetch({"a": 0}, current_leader_epoch=9))
    assert shape(data) == (ErrorCode.UNKNOWN_LEADER_EPOCH, -1, -1, -1)
    assert offsets_of(one(plane.fetch({"a": 0}, current_leader_epoch=0)))
    set_leader(plane.cluster, "a", 0, 1)
    fenced = plane.fetch({"a": 0}, current_leader_epoch=0, version=16)
    assert one(fenced).error_code == ErrorCode.FENCED_LEADER_EPOCH
    assert (one(fenced).current_leader.leader_id, one(fenced).current_leader.leader_epoch) == (1, 1)
    assert [each.node_id for each in fenced.node_endpoints] == [1]
    assert one(plane.fetch({"a": 0}, current_leader_epoch=0, version=15)).current_leader.leader_id == -1


def test_another_node_names_the_leader() -> None:
    plane = DataPlane(nodes=3)
    plane.cluster.create_topic("r", assignments={0: [3, 1]})
    plane.cluster.nodes[3].first.port = 7777
    response = plane.fetch({"r": 0}, version=16, node=2, max_wait_ms=5000)
    assert one(response).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert one(response).current_leader.leader_id == 3
    assert [(each.node_id, each.host, each.port) for each in response.node_endpoints] == [(3, "broker.test", 7777)]
    assert one(plane.fetch({"r": 0}, version=16, node=3)).error_code == 0


def test_diverging_logs_are_told_where_they_part(plane: DataPlane) -> None:
    for _ in range(5):
        set_leader(plane.cluster, "a", 0, 1)
    plane.produce("a", 2)
    agreed = one(plane.fetch({"a": 4}, last_fetched_epoch=0))
    assert offsets_of(agreed) == [4, 5]
    parted = one(plane.fetch({"a": 6}, last_fetched_epoch=0))
    assert (parted.error_code, parted.diverging_epoch.epoch, parted.diverging_epoch.end_offset) == (0, 0, 4)
    assert (parted.records, parted.high_watermark) == (b"", 6)
    assert one(plane.fetch({"a": 5}, last_fetched_epoch=3)).diverging_epoch.epoch == 0
    assert one(plane.fetch({"a": 5}, last_fetched_epoch=7)).error_code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_diverging_partition_takes_nothing_of_the_limit_of_a_fetch(plane: DataPlane) -> None:
    """The first batch of a fetch comes whatever its limit; a partition that only says where logs part sends none."""
    for _ in range(5):
        set_leader(plane.cluster, "a", 0, 1)
    plane.produce("a", 2)
    request = plane.fetch_request({"a": 6, "b": 0}, max_bytes=1)
    request.topics[0].partitions[0].last_fetched_epoch = 0
    parted, read = partitions_of(plane.call(request, 12))
    assert (parted.diverging_epoch.end_offset, parted.records) == (4, b"")
    assert offsets_of(read) == [0]


def test_replicas_that_are_none_are_turned_away() -> None:
    plane = DataPlane(nodes=2)
    plane.cluster.create_topic("r", assignments={0: [1, 2]})
    plane.produce("r", 1)
    codes = []
    for replica_id in (1, 2, 9):
        request = plane.fetch_request({"r": 0})
        request.replica_id = replica_id
        codes.append(one(plane.call(request, 12)).error_code)
        request.replica_id, request.replica_state.replica_id = -1, replica_id
        codes.append(one(plane.call(request, 17)).error_code)
    wrong = ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert codes == [wrong, wrong, 0, 0, wrong, wrong]


# -- sessions


class Client:
    """A consumer with a fetch session."""

    def __init__(self, plane: DataPlane, version: int = 13) -> None:
        self.plane = plane
        self.version = version
        self.session = (0, 0)

    def fetch(
        self,
        wanted: dict[str, Any] | None = None,
        forget: list[tuple[str, list[int]]] | None = None,
        **options: Any,
    ) -> dict[tuple[str, int], list[int]]:
        """What the answer carries: (topic, partition) -> offsets."""
        request = self.plane.fetch_request(wanted or {}, session=self.session, **options)
        topics = self.plane.cluster.topics
        request.forgotten_topics_data = [
            ForgottenTopic(name, topics.get(name).topic_id, partitions)  # type: ignore[union-attr]
            for name, partitions in forget or []
        ]
        response = self.plane.call(request, self.version)
        assert response.error_code == 0
        self.session = (response.session_id, self.session[1] + 1)
        found = {}
        for topic in response.responses:
            named = topics.by_id(topic.topic_id) if self.version >= 13 else topics.get(topic.topic)
            for data in topic.partitions:
                found[(named.name if named else "?", data.partition_index)] = offsets_of(data)
        return found


@pytest.mark.parametrize("version", [7, 11, 13, 18])
def test_a_session_is_answered_with_changes_only(plane: DataPlane, version: int) -> None:
    client = Client(plane, version)
    assert client.fetch({"a": [(0, 4), (1, 2)], "empty": 0}) == {("a", 0): [], ("a", 1): [], ("empty", 0): []}
    assert client.session[0] > 0
    assert client.fetch() == {}
    plane.produce("a", 1, partition=1)
    assert client.fetch() == {("a", 1): [2]}
    assert client.fetch({"a": [(1, 3)]}) == {}
    plane.produce("empty", 1)
    assert client.fetch({"b": 0}, forget=[("empty", [0])]) == {("b", 0): [0]}


def test_a_session_that_forgets_everything_ends(plane: DataPlane) -> None:
    client = Client(plane)
    client.fetch({"a": 4})
    assert client.fetch(forget=[("a", [0])]) == {}
    assert client.session[0] == 0
    assert len(plane.cluster.fetch_sessions[1]) == 0


def test_final_epoch_closes_the_session(plane: DataPlane) -> None:
    client = Client(plane)
    client.fetch({"a": 4})
    response = plane.call(plane.fetch_request({}, session=(client.session[0], -1)), 13)
    assert response == FetchResponse()
    assert len(plane.cluster.fetch_sessions[1]) == 0


def test_a_full_fetch_replaces_the_session(plane: DataPlane) -> None:
    client = Client(plane)
    client.fetch({"a": 4})
    old = client.session[0]
    client.session = (old, 0)
    assert client.fetch({"b": 0}) == {("b", 0): [0]}
    assert client.session[0] not in (0, old)
    assert len(plane.cluster.fetch_sessions[1]) == 1


def test_session_errors(plane: DataPlane) -> None:
    client = Client(plane)
    client.fetch({"a": 4})

    def code(session: tuple[int, int], version: int = 13) -> tuple[int, int, list[Any]]:
        response = plane.call(plane.fetch_request({}, session=session), version)
        return response.error_code, response.session_id, response.responses

    session_id = client.session[0]
    assert code((session_id, 99)) == (ErrorCode.INVALID_FETCH_SESSION_EPOCH, 0, [])
    assert code((session_id + 1, 1)) == (ErrorCode.FETCH_SESSION_ID_NOT_FOUND, 0, [])
    assert code((0, 5)) == (ErrorCode.FETCH_SESSION_ID_NOT_FOUND, 0, [])
    assert code((session_id, 1), version=12) == (ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR, 0, [])
    assert client.fetch() == {}


def test_partitions_take_turns_under_a_small_limit(plane: DataPlane, batch_size: int) -> None:
    client = Client(plane)
    served = list(client.fetch({"a": [(0, 0), (1, 0)], "b": 0}, max_bytes=batch_size))
    assert served == [("a", 0), ("a", 1), ("b", 0)]
    turns = [[key for key, offsets in client.fetch(max_bytes=batch_size).items() if offsets] for _ in range(4)]
    assert turns == [[("a", 0)], [("a", 1)], [("b", 0)], [("a", 0)]]


def test_a_session_notices_that_a_topic_was_made_anew(plane: DataPlane) -> None:
    client = Client(plane, version=11)
    assert client.fetch({"b": 0}) == {("b", 0): [0]}
    plane.cluster.delete_topic("b")
    assert client.fetch() == {("?", 0): []}, "told as unknown"
    plane.topic("b")
    plane.produce("b", 3)
    assert client.fetch() == {("b", 0): [0, 1, 2]}


def test_a_session_by_id_remembers_the_name_of_a_topic_that_goes(plane: DataPlane) -> None:
    client = Client(plane)
    client.fetch({"b": 0})
    plane.cluster.delete_topic("b")

    def incremental() -> Any:
        response = plane.call(plane.fetch_request({}, session=client.session), 13)
        client.session = (client.session[0], client.session[1] + 1)
        return one(response)

    gone = incremental()
    assert (gone.error_code, gone.aborted_transactions) == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, [])
    plane.topic("b")
    anew = incremental()
    assert (anew.error_code, anew.aborted_transactions) == (ErrorCode.INCONSISTENT_TOPIC_ID, None)


def test_without_slots_there_is_no_session() -> None:
    plane = DataPlane(topics={"a": 1}, config={"max.incremental.fetch.session.cache.slots": "0"})
    plane.produce("a", 1)
    response = plane.fetch({"a": 0}, session=(0, 0))
    assert response.session_id == 0
    assert offsets_of(one(response)) == [0]


def test_every_answer_can_be_encoded_and_read_back(plane: DataPlane) -> None:
    for version in range(4, 19):
        request = plane.fetch_request({"a": [(0, 0), (9, 0)], "nope": 0, "empty": 0})
        response = plane.call(request, version)
        form = codec(FetchResponse, version)
        again, _ = form.decode(form.encode(response))
        assert [each.error_code for each in partitions_of(again)] == [
            each.error_code for each in partitions_of(response)
        ]
        assert offsets_of(partitions_of(again)[0]) == [0, 1, 2, 3]


def test_a_topic_may_come_back_in_another_place() -> None:
    plane = DataPlane(topics={"a": 2, "b": 1})
    asked = [FetchTopic("a", partitions=[FetchPartition(0, partition_max_bytes=99)])]
    asked += [FetchTopic("b", partitions=[FetchPartition(0)]), FetchTopic("a", partitions=[FetchPartition(1)])]
    request = FetchRequest(max_bytes=100, session_epoch=-1, topics=asked)
    response = plane.call(request, 12)
    assert [(topic.topic, len(topic.partitions)) for topic in response.responses] == [("a", 1), ("b", 1), ("a", 1)]


def test_a_small_read_names_only_aborted_transactions_near_it(plane: DataPlane) -> None:
    partition = plane.topic("t").partitions[0]
    for i in range(200):
        batch = plane.batch(
            1, size=500, producer_id=i, producer_epoch=0, base_sequence=0, transactional=True, timestamp=START_MS
        )
        partition.append(batch, now_ms=START_MS)
        marker = build_end_txn_batch(EndTxnMarker(False, 0), producer_id=i, producer_epoch=0, timestamp=START_MS)
        partition.append(marker, now_ms=START_MS, origin=AppendOrigin.COORDINATOR)
    data = one(plane.fetch({"t": 100}, isolation_level=1, partition_max_bytes=2000))
    named = {each.producer_id for each in data.aborted_transactions}
    assert {offset // 2 for offset in offsets_of(data)} <= named
    assert len(named) < 20
    whole = one(plane.fetch({"t": 0}, isolation_level=1))
    assert [each.producer_id for each in whole.aborted_transactions] == list(range(200))
