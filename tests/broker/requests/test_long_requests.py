"""Long requests: served in turn and in parts, with the answer that they would have as a whole."""

from __future__ import annotations

import logging
import random
import struct
from collections.abc import Callable, Iterator
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from odradek.broker.api.served import SERVED
from odradek.broker.clock import BrokerClock
from odradek.broker.requests.context import CloseConnection, ConnectionInfo
from odradek.broker.requests.dispatch import Long, Pending
from odradek.broker.requests.error_answers import error_response, levels_of
from odradek.broker.requests.handlers import OPEN, Access, Handler, Whole
from odradek.broker.requests.long_requests import Chunks, Cuts, Pace, encoded_in_chunks, merge
from odradek.broker.requests.long_requests import served_in_parts as served_in_parts_of
from odradek.broker.requests.parked_request import EncodedBody
from odradek.broker.security.acl import Operation
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.file_slice import joined
from odradek.protocol.generated.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from odradek.protocol.generated.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from odradek.protocol.generated.messages.describe_producers import DescribeProducersRequest, TopicRequest
from odradek.protocol.generated.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
)
from odradek.protocol.generated.messages.describe_transactions import DescribeTransactionsRequest
from odradek.protocol.generated.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from odradek.protocol.generated.messages.list_groups import ListedGroup, ListGroupsResponse
from odradek.protocol.generated.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
    ListOffsetsTopicResponse,
)
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from odradek.protocol.generated.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
)
from odradek.protocol.generated.messages.share_group_describe import ShareGroupDescribeRequest
from odradek.protocol.generated.messages.streams_group_describe import StreamsGroupDescribeRequest
from odradek.protocol.message import Message
from odradek.protocol.message_codec import codec
from odradek.protocol.schema import ArrayOf, Int32, String, StructOf, Uuid
from tests.broker.conftest import Install, request_frame, response_of
from tests.fakes.ask import handler_of
from tests.fakes.cluster import FakeCluster
from tests.fakes.data_plane import DataPlane, without_tasks
from tests.fakes.examples import examples

TOPICS = {"one": 1, "two": 2, "three": 3}
NAMES = [*TOPICS, "unknown", "bad/", "", "1"]
MANY = 5000
INFO = ConnectionInfo(id="c1")


# -- a request that is served in parts


@cache
def served_in_parts() -> list[Handler]:
    return [handler for handler in SERVED.all().values() if handler.in_parts]


def versions_in_parts(handler: Handler) -> list[int]:
    """Those whose answer has an element for each of the request."""
    versions = range(handler.min_version, handler.max_version + 1)
    return [version for version in versions if levels_of(handler.spec.request(), version)]


def drawn(message: type[Any], version: int, rng: random.Random, *, inner: bool = False) -> Any:
    """A message whose lists have up to six elements, with names and numbers that repeat and of which some exist."""
    made = message()
    for field in message.declare():
        if version not in field.versions:
            continue
        if isinstance(field.type, ArrayOf):
            setattr(made, field.name, [element(field.type.element, version, rng) for _ in range(rng.randint(0, 6))])
        elif inner:
            value = plain(field.type, rng)
            if value is not None:
                setattr(made, field.name, value)
    return made


def element(kind: Any, version: int, rng: random.Random) -> Any:
    if isinstance(kind, StructOf):
        return drawn(kind.message, version, rng, inner=True)
    value = plain(kind, rng)
    return rng.randint(0, 3) if value is None else value


def plain(kind: Any, rng: random.Random) -> Any:
    if kind is String:
        return rng.choice(NAMES)
    if kind is Uuid:
        return rng.choice([bytes(16), b"a" * 16, b"b" * 16])
    return rng.randint(-1, 3) if kind is Int32 else None


def plane() -> DataPlane:
    made = DataPlane(topics=TOPICS)
    without_tasks(made.cluster)
    return made


def ask(at: DataPlane, request: Any, version: int) -> Any:
    try:
        return handler_of(request)(at.context(request, version), request)
    except KafkaError as error:
        return error_response(request, version, error.code, error.message)


@pytest.mark.long
@pytest.mark.parametrize("handler", served_in_parts(), ids=lambda handler: handler.spec.name)
@settings(max_examples=examples(30), deadline=None)
@given(data=st.data(), seed=st.integers(0, 1 << 32), elements=st.integers(1, 5))
def test_the_answer_to_parts_is_the_answer_to_the_whole(
    handler: Handler, data: st.DataObject, seed: int, elements: int
) -> None:
    version = data.draw(st.sampled_from(versions_in_parts(handler)))
    request = drawn(handler.spec.request, version, random.Random(seed))
    levels = levels_of(request, version)
    whole, in_parts = plane(), plane()
    expected = ask(whole, request, version)
    found: Any = None
    for part, continued in Cuts(request, levels).parts(Pace(elements)):
        answer = ask(in_parts, part, version)
        found = answer if found is None else merge(found, answer, levels, continued=continued)
    encode = codec(handler.spec.response, version).encode
    assert encode(found) == encode(expected)


def test_what_is_served_in_parts_has_lists_that_can_be_cut() -> None:
    assert len(served_in_parts()) >= 10
    for handler in served_in_parts():
        levels = levels_of(handler.spec.request(), handler.max_version)
        assert levels, handler.spec.name
        assert not any("." in level.asked for level in levels), handler.spec.name


def partitions_of(request: ListOffsetsRequest, elements: int) -> list[tuple[list[tuple[str, list[int]]], bool]]:
    return [
        ([(topic.name, [each.partition_index for each in topic.partitions]) for topic in part.topics], continued)
        for part, continued in Cuts(request, levels_of(request, 11)).parts(Pace(elements))
    ]


def test_a_request_is_cut_between_topics_and_within_one() -> None:
    def topic(name: str, *indexes: int) -> ListOffsetsTopic:
        return ListOffsetsTopic(name, [ListOffsetsPartition(index) for index in indexes])

    request = ListOffsetsRequest(-1, topics=[topic("a", 0), topic("b"), topic("c", 0, 1, 2, 3, 4), topic("d", 7)])
    assert partitions_of(request, 100) == [([("a", [0]), ("b", []), ("c", [0, 1, 2, 3, 4]), ("d", [7])], False)]
    assert partitions_of(request, 3) == [
        ([("a", [0]), ("b", [])], False),
        ([("c", [0, 1])], False),
        ([("c", [2, 3])], True),
        ([("c", [4]), ("d", [7])], True),
    ]
    assert partitions_of(ListOffsetsRequest(-1, topics=[]), 3) == [([], False)]


def test_parts_grow_while_they_are_quick_and_shrink_when_they_are_not() -> None:
    pace = Pace(4)
    pace.took(1_000_000)
    assert pace.elements == 8
    pace.took(5_000_000)
    assert pace.elements == 8
    pace.took(50_000_000)
    assert pace.elements == 2
    for _ in range(5):
        pace.took(50_000_000)
    assert pace.elements == 1
    for _ in range(50):
        pace.took(0)
    assert 1 < pace.elements < 10_000


def test_the_answers_to_parts_of_one_topic_become_one() -> None:
    def answer(**topics: list[int]) -> ListOffsetsResponse:
        rows = {name: [ListOffsetsPartitionResponse(index) for index in indexes] for name, indexes in topics.items()}
        return ListOffsetsResponse(topics=[ListOffsetsTopicResponse(name, found) for name, found in rows.items()])

    def told(response: ListOffsetsResponse) -> list[tuple[str, list[int]]]:
        return [(topic.name, [each.partition_index for each in topic.partitions]) for topic in response.topics]

    levels = levels_of(ListOffsetsRequest(-1), 11)
    merged = merge(answer(a=[0], b=[1, 2]), answer(b=[3], c=[4]), levels, continued=True)
    assert told(merged) == [("a", [0]), ("b", [1, 2, 3]), ("c", [4])]
    apart = merge(answer(a=[0], b=[1]), answer(b=[3]), levels, continued=False)
    assert told(apart) == [("a", [0]), ("b", [1]), ("b", [3])]
    assert told(merge(answer(), answer(b=[3]), levels, continued=True)) == [("b", [3])]
    assert told(merge(answer(b=[3]), answer(), levels, continued=True)) == [("b", [3])]


def test_a_part_that_is_refused_is_the_answer() -> None:
    asked: list[list[str]] = []

    def serve(part: DescribeGroupsRequest) -> Any:
        asked.append(part.groups)
        return SimpleNamespace(error_code=15) if len(asked) == 2 else DescribeGroupsResponse(groups=[])

    request = DescribeGroupsRequest([f"group-{number}" for number in range(50)])
    answer = trio.run(served_in_parts_of, serve, BrokerClock(), request, 5, lambda: False)
    assert answer.error_code == 15
    assert asked == [request.groups[:4], request.groups[4:12]]


# -- in the dispatcher


def groups(count: int) -> bytes:
    """A frame that describes so many groups, without its size."""
    return request_frame(DescribeGroupsRequest([f"group-{number}" for number in range(count)]), 5)[4:]


def described(ctx: Any, request: DescribeGroupsRequest) -> DescribeGroupsResponse:
    return DescribeGroupsResponse(groups=[DescribedGroup(group_id=group_id) for group_id in request.groups])


def begin(cluster: FakeCluster, frame: bytes) -> Any:
    return cluster.dispatcher.begin(cluster.nodes[1], INFO, memoryview(frame))


async def finished(cluster: FakeCluster, begun: Pending) -> Any:
    parts: Any = await cluster.dispatcher.finish(begun)
    frame = joined(parts)
    assert struct.unpack_from(">i", frame)[0] == len(frame) - 4
    return response_of(DescribeGroupsRequest(), 5, frame[4:])[1]


def test_a_long_request_is_answered_as_a_short_one(install: Install) -> None:
    install(DescribeGroupsRequest, described, in_parts=True)
    cluster = FakeCluster()
    assert isinstance(begin(cluster, groups(10)), list)
    begun = begin(cluster, groups(MANY))
    assert isinstance(begun, Long)
    response = trio.run(finished, cluster, begun, clock=cluster.clock)
    assert [group.group_id for group in response.groups] == [f"group-{number}" for number in range(MANY)]


@pytest.mark.parametrize("in_parts", [True, False])
def test_an_error_of_the_handler_is_the_answer_to_all_of_a_long_request(install: Install, in_parts: bool) -> None:
    def refused(ctx: Any, request: DescribeGroupsRequest) -> DescribeGroupsResponse:
        raise KafkaError(ErrorCode.INVALID_GROUP_ID)

    install(DescribeGroupsRequest, refused, in_parts=in_parts)
    cluster = FakeCluster()
    response = trio.run(finished, cluster, begin(cluster, groups(MANY)), clock=cluster.clock)
    assert [group.error_code for group in response.groups] == [ErrorCode.INVALID_GROUP_ID] * MANY
    assert not cluster.bugs


def test_others_are_served_between_the_parts_of_a_long_request(install: Install) -> None:
    served: list[str] = []

    def handler(ctx: Any, request: DescribeGroupsRequest) -> DescribeGroupsResponse:
        served.append(request.groups[0] if len(request.groups) == 1 else f"part {len(request.groups)}")
        return described(ctx, request)

    async def others(cluster: FakeCluster) -> None:
        while not any(name.startswith("part") for name in served):
            await trio.lowlevel.checkpoint()
        short = request_frame(DescribeGroupsRequest(["short"]), 5)[4:]
        assert isinstance(begin(cluster, short), list)

    async def main() -> None:
        cluster = FakeCluster()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(others, cluster)
            await finished(cluster, begin(cluster, groups(MANY)))

    install(DescribeGroupsRequest, handler, in_parts=True)
    trio.run(main)
    assert "short" in served[1:-1]


def test_one_long_request_at_a_time_and_short_ones_meanwhile(install: Install) -> None:
    async def main() -> None:
        cluster, go_on, began = FakeCluster(), trio.Event(), 0

        async def described_later(ctx: Any, request: DescribeGroupsRequest) -> DescribeGroupsResponse:
            nonlocal began
            began += 1
            await go_on.wait()
            return described(ctx, request)

        def handler(ctx: Any, request: DescribeGroupsRequest) -> Any:
            return described(ctx, request) if request.groups == ["short"] else described_later(ctx, request)

        install(DescribeGroupsRequest, handler, in_parts=True)
        with trio.CancelScope() as hung_up:
            async with trio.open_nursery() as nursery:
                for _ in range(2):
                    nursery.start_soon(finished, cluster, begin(cluster, groups(MANY)))
                await trio.testing.wait_all_tasks_blocked()
                assert began == 1
                assert isinstance(begin(cluster, request_frame(DescribeGroupsRequest(["short"]), 5)[4:]), list)
                hung_up.cancel()
        assert began == 1, "a client that has gone stops the work"
        go_on.set()
        response = await finished(cluster, begin(cluster, groups(MANY)))
        assert len(response.groups) == MANY

    trio.run(main)


@pytest.mark.parametrize(("access", "gone"), [(OPEN, True), (Whole(Operation.ALTER), False)], ids=["looks", "changes"])
def test_a_long_request_of_a_client_that_has_left_ends_unless_it_changes_something(
    install: Install, access: Access, gone: bool
) -> None:
    has_left = False
    served: list[int] = []

    def handler(ctx: Any, request: DescribeGroupsRequest) -> DescribeGroupsResponse:
        nonlocal has_left
        has_left = True
        served.append(len(request.groups))
        return described(ctx, request)

    async def main() -> None:
        cluster = FakeCluster()
        for parts in (1, 0):  # it leaves while it is served, and before
            served.clear()
            begun = begin(cluster, groups(MANY))
            begun.client_has_left = lambda: has_left
            if gone:
                with pytest.raises(CloseConnection, match="the client has gone"):
                    await finished(cluster, begun)
                assert len(served) == parts
            else:
                assert len((await finished(cluster, begun)).groups) == MANY

    install(DescribeGroupsRequest, handler, in_parts=True, access=access)
    trio.run(main)


def test_what_changes_something_goes_on_without_its_client() -> None:
    looks = {handler.spec.name for handler in served_in_parts() if handler.may_end_halfway}
    assert not {"ElectLeaders", "AlterPartitionReassignments", "WriteShareGroupState"} & looks
    assert {"DescribeConfigs", "OffsetFetch", "FindCoordinator"} <= looks


def test_a_long_request_that_waits_leaves_its_turn_to_others(install: Install) -> None:
    async def main() -> None:
        cluster, go_on = FakeCluster(), trio.Event()

        async def later(ctx: Any, request: DescribeGroupsRequest) -> DescribeGroupsResponse:
            await go_on.wait()
            return described(ctx, request)

        def handler(ctx: Any, request: DescribeGroupsRequest) -> Any:
            return later(ctx, request) if len(request.groups) == MANY else described(ctx, request)

        install(DescribeGroupsRequest, handler)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(finished, cluster, begin(cluster, groups(MANY)))
            await trio.testing.wait_all_tasks_blocked()
            assert len((await finished(cluster, begin(cluster, groups(MANY + 1)))).groups) == MANY + 1
            go_on.set()

    trio.run(main)


def test_more_elements_than_a_request_may_have_end_the_connection(
    install: Install, caplog: pytest.LogCaptureFixture
) -> None:
    install(DescribeGroupsRequest, described, in_parts=True)
    cluster = FakeCluster()
    assert len(trio.run(finished, cluster, begin(cluster, groups(20_000)), clock=cluster.clock).groups) == 20_000
    with caplog.at_level(logging.WARNING), pytest.raises(CloseConnection, match="more than 20000 elements"):
        trio.run(finished, cluster, begin(cluster, groups(20_001)), clock=BrokerClock())
    assert "DescribeGroups v5: DescribeGroupsRequest.groups: more than 20000 elements" in caplog.text
    assert "(odradek.request.max.elements)" in caplog.text


def test_elements_of_all_arrays_and_tagged_fields_count_together() -> None:
    topics = [ListOffsetsTopic("t", [ListOffsetsPartition(number) for number in range(4)]) for _ in range(3)]
    request = ListOffsetsRequest(-1, topics=topics)
    decode: Callable[..., Any] = codec(ListOffsetsRequest, 11).decode
    data = codec(ListOffsetsRequest, 11).encode(request)
    assert decode(data, 0, 15)[0] == request
    with pytest.raises(Exception, match="more than 14 elements"):
        decode(data, 0, 14)
    topics[0].unknown_tagged_fields = ((100, b""),)
    with pytest.raises(Exception, match="more than 15 elements"):
        decode(codec(ListOffsetsRequest, 11).encode(request), 0, 15)


def test_the_config_is_the_limit_of_all_apis() -> None:
    plane = DataPlane(config={"odradek.request.max.elements": "1000"})
    dispatcher, node = plane.cluster.dispatcher, plane.cluster.nodes[1]
    for count in (1000, 1001):
        frame = request_frame(MetadataRequest([MetadataRequestTopic(name="t")] * count), 9)[4:]
        if count == 1000:
            assert isinstance(dispatcher.begin(node, plane.connection, frame), list)
        else:
            with pytest.raises(CloseConnection, match=r"more than 1000 elements.*odradek\.request\.max\.elements"):
                dispatcher.begin(node, plane.connection, frame)


# -- answers that are larger than what is asked


ABOUT_GROUPS = [
    (DescribeGroupsRequest, 5, "groups", str),
    (ConsumerGroupDescribeRequest, 1, "group_ids", str),
    (ShareGroupDescribeRequest, 1, "group_ids", str),
    (StreamsGroupDescribeRequest, 0, "group_ids", str),
    (DescribeTransactionsRequest, 0, "transactional_ids", str),
    (OffsetFetchRequest, 9, "groups", OffsetFetchRequestGroup),
    (DescribeShareGroupOffsetsRequest, 0, "groups", DescribeShareGroupOffsetsRequestGroup),
]


@pytest.mark.parametrize(
    ("request_class", "version", "field", "named"), ABOUT_GROUPS, ids=[case[0].__name__ for case in ABOUT_GROUPS]
)
def test_a_request_that_names_more_than_four_is_long_and_one_of_four_is_not(
    request_class: type[Any], version: int, field: str, named: Callable[[str], Any]
) -> None:
    plane = DataPlane()
    dispatcher, node = plane.cluster.dispatcher, plane.cluster.nodes[1]
    for count in (4, 5):
        frame = request_frame(request_class(**{field: [named("g")] * count}), version)[4:]
        assert isinstance(dispatcher.begin(node, plane.connection, frame), Long) == (count == 5)


def test_old_requests_for_the_offsets_of_many_partitions_are_not_long() -> None:
    plane = DataPlane()
    frame = request_frame(OffsetFetchRequest("g", [OffsetFetchRequestTopic("t", list(range(50)))]), 1)[4:]
    assert isinstance(plane.cluster.dispatcher.begin(plane.cluster.nodes[1], plane.connection, frame), list)


def test_partitions_of_one_topic_count_as_elements() -> None:
    plane = DataPlane()
    dispatcher, node = plane.cluster.dispatcher, plane.cluster.nodes[1]
    for count in (4, 5):
        frame = request_frame(DescribeProducersRequest([TopicRequest("t", [0] * count)]), 0)[4:]
        assert isinstance(dispatcher.begin(node, plane.connection, frame), Long) == (count == 5)


@pytest.mark.parametrize("in_parts", [True, False])
def test_a_short_request_whose_answer_would_be_too_large_ends_the_connection(install: Install, in_parts: bool) -> None:
    served = 0

    def handler(ctx: Any, request: DescribeGroupsRequest) -> DescribeGroupsResponse:
        nonlocal served
        served += len(request.groups)
        member = DescribedGroupMember(member_metadata=bytes(50_000))
        return DescribeGroupsResponse(
            groups=[DescribedGroup(group_id=name, members=[member]) for name in request.groups]
        )

    async def main() -> None:
        cluster = FakeCluster()
        frame = request_frame(DescribeGroupsRequest(["g"] * 1000), 5)[4:]
        with pytest.raises(CloseConnection, match="larger than 1000000 bytes"):
            await finished(cluster, begin(cluster, frame))

    install(DescribeGroupsRequest, handler, in_parts=in_parts, large_answers_from=0)
    trio.run(main)
    assert served < 50 if in_parts else served == 1000


# -- encoding


def many_responses() -> Iterator[Any]:
    some = [ListedGroup(f"group-{number}", "consumer") for number in range(1000)]
    for version in range(6):
        yield ListGroupsResponse(groups=[ListedGroup(g.group_id, g.protocol_type) for g in some]), version
    for version in (4, 12):
        records = [bytes([number % 256]) * (9000 if number % 3 else 3) for number in range(300)]
        partitions = [[PartitionData(number, records=data)] for number, data in enumerate(records)]
        yield FetchResponse(responses=[FetchableTopicResponse("t", partitions=each) for each in partitions]), version
    yield MetadataResponse(cluster_id="c"), 9
    yield DescribeGroupsResponse(groups=[]), 5


@pytest.mark.parametrize(("response", "version"), list(many_responses()))
def test_chunks_are_the_bytes_of_the_whole(response: Message, version: int) -> None:
    whole: Any = codec(type(response), version)
    assert joined(encoded_in_chunks(whole, response, 1 << 30)) == whole.encode(response)


@pytest.mark.parametrize("version", [0, 5])
def test_an_answer_that_was_encoded_or_has_no_elements_is_sent_as_it_is(version: int) -> None:
    coded = codec(DescribeGroupsResponse, version)
    assert encoded_in_chunks(coded, EncodedBody(b"body"), 1) == [b"body"]
    for count in (0, 1):
        response = DescribeGroupsResponse(groups=[DescribedGroup()] * count)
        assert joined(encoded_in_chunks(coded, response, 1 << 20)) == coded.encode(response)
    none_yet = Chunks(coded, "groups", 1 << 20)
    none_yet.add(DescribeGroupsResponse(groups=[]))
    assert joined(none_yet.parts()) == coded.encode(DescribeGroupsResponse(groups=[]))


def test_an_answer_may_have_as_many_bytes_as_are_allowed() -> None:
    coded = codec(DescribeGroupsResponse, 5)
    response = DescribeGroupsResponse(groups=[DescribedGroup(group_id="g" * 100)] * 10)
    chunks = Chunks(coded, "groups", 1 << 20)
    chunks.add(response)
    size = sum(map(len, chunks.parts()[1:-1]))
    assert joined(encoded_in_chunks(coded, response, size)) == coded.encode(response)
    with pytest.raises(CloseConnection, match=f"larger than {size - 1} bytes"):
        encoded_in_chunks(coded, response, size - 1)


def test_an_answer_that_is_too_large_ends_the_connection() -> None:
    response = ListGroupsResponse(groups=[ListedGroup("x" * 100, "consumer")] * 1000)
    size = len(codec(ListGroupsResponse, 5).encode(response))
    assert encoded_in_chunks(codec(ListGroupsResponse, 5), response, size)
    with pytest.raises(CloseConnection, match="larger than"):
        encoded_in_chunks(codec(ListGroupsResponse, 5), response, size - 1000)
