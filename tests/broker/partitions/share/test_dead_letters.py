"""Dead letter queues: conversations with a broker of release 4.4, held against those of a real Kafka 4.4.0."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping

import pytest

from odradek.broker.facade.threaded import KafkaBroker
from odradek.broker.partitions.share.dead_letters import REJECTED, DeadLetter, DeadLetterQueues
from odradek.broker.partitions.share.states import ShareSettings
from odradek.protocol.compression import Codec
from odradek.protocol.record_batch import HEADER_SIZE, RecordBatch, build_batch, iter_batches
from odradek.protocol.records import Record
from tests.fakes.data_plane import START_MS, DataPlane
from tests.fakes.vectors import recorded
from tests.scenarios.dead_letters import CONFIG, CONVERSATIONS, ENABLED, REJECT, DeadLetterConversation, transcribe

QUEUE = "dlq.q"
DAILY = ("rejected", "transactions", "configs")


@pytest.mark.long(*(name for name in CONVERSATIONS if name not in DAILY))
@pytest.mark.parametrize("name", CONVERSATIONS)
def test_dead_letters_are_written_as_recorded(name: str) -> None:
    expected = recorded("dead_letters")[name]
    with KafkaBroker(kafka_version="4.4", config=CONFIG) as broker:
        assert transcribe(name, broker.bootstrap_servers) == expected
        assert broker.bugs == []


def open_conversation(broker: KafkaBroker) -> DeadLetterConversation:
    host, port = broker.bootstrap_servers.rsplit(":", 1)
    return DeadLetterConversation(host, int(port))


@pytest.fixture
def headless() -> Iterator[tuple[KafkaBroker, DeadLetterConversation]]:
    """A member that holds two records, and a queue whose only partition is on a node that is down."""
    alone = {"share.coordinator.state.topic.replication.factor": "1", "share.coordinator.state.topic.min.isr": "1"}
    with KafkaBroker(kafka_version="4.4", nodes=2, config={**CONFIG, **alone}) as broker:
        broker.create_topic(QUEUE, 1, config=ENABLED)
        broker.topic(QUEUE).reassign(0, [2])
        broker.kill_node(2)
        conversation = open_conversation(broker)
        conversation.with_queue(QUEUE)
        conversation.joined(early=False)
        conversation.send(("k0", "v0"), ("k1", "v1"))
        conversation.take(1)
        broker.clock.freeze()
        yield broker, conversation
        conversation.close()


def letters(broker: KafkaBroker) -> list[bytes | None]:
    """The offsets of what is in the queue."""
    return [dict(record.headers)["__dlq.errors.offset"] for record in broker.records(QUEUE)]


def records_by_state(broker: KafkaBroker, c: DeadLetterConversation) -> Mapping[str, int]:
    return broker.group(c.group).share_partitions[c.topic, 0].records


@pytest.mark.long
def test_letters_wait_for_a_leader(headless: tuple[KafkaBroker, DeadLetterConversation]) -> None:
    broker, c = headless
    c.says((0, 0, [REJECT]))
    assert records_by_state(broker, c) == {"archiving": 1, "acquired": 1}
    broker.clock.advance(seconds=1)
    assert records_by_state(broker, c) == {"archiving": 1, "acquired": 1}
    broker.start_node(2)
    assert letters(broker) == []
    broker.clock.advance(seconds=2)
    assert letters(broker) == [b"0"]
    assert broker.group(c.group).share_partitions[c.topic, 0].start_offset == 1
    assert records_by_state(broker, c) == {"acquired": 1}


@pytest.mark.long
def test_after_five_attempts_they_are_lost(headless: tuple[KafkaBroker, DeadLetterConversation]) -> None:
    broker, c = headless
    c.says((0, 1, [REJECT]))
    for seconds in (1, 2, 4):
        broker.clock.advance(seconds=seconds)
        assert records_by_state(broker, c) == {"archiving": 2}
    broker.clock.advance(seconds=8)
    assert records_by_state(broker, c) == {}
    broker.start_node(2)
    broker.clock.advance(minutes=1)
    assert letters(broker) == []


@pytest.mark.long
def test_whoever_reads_the_state_next_goes_on(headless: tuple[KafkaBroker, DeadLetterConversation]) -> None:
    broker, c = headless
    c.says((0, 0, [REJECT]))
    c.hang_up("a")
    broker.start_node(2)
    assert broker.group(c.group).share_partitions == {}
    c.fetch_shared("m1", 0, {0: []}, wait=0)
    assert letters(broker) == [b"0"]
    assert records_by_state(broker, c) == {"acquired": 1}


@pytest.mark.trio
async def test_others_are_served_between_large_letters() -> None:
    plane = DataPlane(topics={"source": 1})
    plane.topic(QUEUE, errors_deadletterqueue_group_enable="true")
    cluster = plane.cluster
    source, queue = (cluster.topics.by_name(name).partitions[0] for name in ("source", QUEUE))
    rows = [Record(0, START_MS, b"%d" % number, bytes(900_000)) for number in range(12)]
    for row in rows:
        source.append(build_batch([row], codec=Codec.ZSTD), now_ms=START_MS)
    waiting: list[Callable[[], Awaitable[None]]] = []
    over: list[bool] = []
    queues = DeadLetterQueues(cluster.clock, cluster.config, cluster.topics, no_topic, waiting.append)
    settings = ShareSettings(dead_letter_topic=QUEUE, copies_dead_letters=True)
    letter = DeadLetter("g", source, 1, 10, 1, REJECTED)
    queues.put(letter, lambda: settings, lambda: over.append(True))
    assert 0 < queue.log.log_end_offset < 10
    assert not over
    (go_on,) = waiting
    await go_on()
    assert over == [True]
    parts = queue.log.read(0, max_bytes=1 << 30, up_to_offset=10).parts
    written = [record for batch in iter_batches(parts) for record in batch.records()]
    assert [(each.key, each.value) for each in written] == [(row.key, row.value) for row in rows[1:11]]


Put = tuple[DataPlane, list[bool], Callable[[DeadLetter, ShareSettings], None], list[tuple[str, Mapping[str, str]]]]


def post(config: Mapping[str, str] | None = None, **queue: str) -> Put:
    """A cluster with ten records in the topic source, and queues that write to it."""
    plane = DataPlane(topics={"source": 1}, config=config)
    if queue:
        plane.topic(QUEUE, 1, **queue)
    cluster = plane.cluster
    over: list[bool] = []
    made: list[tuple[str, Mapping[str, str]]] = []

    def create(name: str, configs: Mapping[str, str]) -> None:
        made.append((name, configs))
        cluster.create_topic(name, configs=dict(configs))

    queues = DeadLetterQueues(cluster.clock, cluster.config, cluster.topics, create, no_task)
    for number in range(10):
        row = Record(0, START_MS, b"%d" % number, bytes(100 * number))
        plane.cluster.topics.by_name("source").partitions[0].append(build_batch([row]), now_ms=START_MS)
    return plane, over, lambda letter, settings: queues.put(letter, lambda: settings, lambda: over.append(True)), made


def no_task(run: Callable[[], Awaitable[None]]) -> None:
    raise AssertionError("nothing is left to do")


def letter_of(plane: DataPlane, first: int, last: int) -> DeadLetter:
    return DeadLetter("g", plane.cluster.topics.by_name("source").partitions[0], first, last, 1, REJECTED)


def batches_in(plane: DataPlane) -> list[RecordBatch]:
    log = plane.cluster.topics.by_name(QUEUE).partitions[0].log
    return list(iter_batches(log.read(0, max_bytes=1 << 30, up_to_offset=log.log_end_offset).parts))


def test_a_batch_of_letters_is_as_large_as_the_queue_takes() -> None:
    plane, over, put, _ = post(errors_deadletterqueue_group_enable="true", max_message_bytes="700")
    put(letter_of(plane, 1, 8), ShareSettings(dead_letter_topic=QUEUE))
    found = batches_in(plane)
    assert over == [True]
    assert sum(batch.record_count for batch in found) == 8
    assert len(found) > 1
    one = (len(found[0].data) - HEADER_SIZE) // found[0].record_count
    assert all(700 - one < len(batch.data) <= 700 for batch in found[:-1])


def test_a_record_that_is_too_large_for_the_queue_is_not_copied() -> None:
    plane, over, put, _ = post(errors_deadletterqueue_group_enable="true", max_message_bytes="600")
    settings = ShareSettings(dead_letter_topic=QUEUE, copies_dead_letters=True)
    put(letter_of(plane, 1, 2), settings)
    put(letter_of(plane, 7, 8), settings)
    plane.cluster.topics.by_name("source").partitions[0].delete_records(2)
    put(letter_of(plane, 1, 2), settings)  # as in Kafka, nothing is copied when the first read fails
    put(letter_of(plane, 5, 5), settings)  # with its headers it is too large, so it is lost
    written = [record for batch in batches_in(plane) for record in batch.records()]
    assert [dict(record.headers)["__dlq.errors.offset"] for record in written] == [b"1", b"2", b"7", b"8", b"1", b"2"]
    assert [record.key for record in written] == [b"1", b"2", None, None, None, None]
    assert over == [True] * 4


@pytest.mark.parametrize(
    ("config", "queue", "name", "why"),
    [
        ({}, {}, "", "no dead letter queue is configured for g"),
        ({}, {"retention_ms": "5"}, QUEUE, "errors.deadletterqueue.group.enable is false for the topic dlq.q"),
        (
            {},
            {},
            QUEUE,
            "the topic dlq.q does not exist, and errors.deadletterqueue.auto.create.topics.enable is false",
        ),
        (
            {"errors.deadletterqueue.auto.create.topics.enable": "true"},
            {},
            "other",
            "the name of the topic other does not begin with errors.deadletterqueue.topic.name.prefix=dlq.",
        ),
    ],
)
def test_letters_that_no_queue_takes_are_lost(
    config: dict[str, str], queue: dict[str, str], name: str, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    plane, over, put, made = post(config, **queue)
    put(letter_of(plane, 1, 2), ShareSettings(dead_letter_topic=name))
    assert (over, made) == ([True], [])
    assert [record.getMessage() for record in caplog.records] == [
        f"group g: records 1 to 2 of source-0 were given up: {why}"
    ]


def test_a_queue_is_created_where_the_brokers_say_so() -> None:
    plane, over, put, made = post({"errors.deadletterqueue.auto.create.topics.enable": "true"})
    put(letter_of(plane, 1, 2), ShareSettings(dead_letter_topic=QUEUE))
    configs = {"errors.deadletterqueue.group.enable": "true", "message.timestamp.type": "CreateTime"}
    assert (over, made) == ([True], [(QUEUE, configs)])
    assert sum(batch.record_count for batch in batches_in(plane)) == 2


def no_topic(name: str, configs: Mapping[str, str]) -> None:
    raise AssertionError(name)
