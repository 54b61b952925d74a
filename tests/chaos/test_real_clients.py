"""librdkafka, kafka-python and aiokafka under chaos: what they were told is true.

The schedule moves on when every client has got further, or after a second where one cannot. Healed, each gets further.
"""

from __future__ import annotations

import gc
import time
from collections import Counter
from collections.abc import Sequence

import pytest

from odradek import Chaos, KafkaBroker
from tests.chaos.real_clients import Writer, aio, kafka_python, librdkafka

pytestmark = [
    pytest.mark.clients,
    pytest.mark.slow,
    # kafka-python forgets sockets whose connection is refused.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]

STEPS = 30
KINDS = {
    "kill_node": 3,
    "stop_node": 1,
    "pause_replication": 2,
    "lag_replication": 1,
    "cut": 2,
    "move_leader": 3,
    "answer": 1,
    "disconnect": 1,
    "delay": 1,
}
APIS = ("Produce", "FindCoordinator", "InitProducerId", "AddPartitionsToTxn", "EndTxn")
CONFIG = {
    "min.insync.replicas": 2,
    "replica.lag.time.max.ms": 500,
    "offsets.topic.num.partitions": 2,
    "transaction.state.log.num.partitions": 2,
}


def advanced(writers: Sequence[Writer], by: int, within_s: float) -> bool:
    """Whether each is told so much more within this time; returns as soon as it is so."""
    goals = [writer.progress + by for writer in writers]
    deadline = time.monotonic() + within_s
    while any(writer.progress < goal for writer, goal in zip(writers, goals, strict=True)):
        assert not [writer.error for writer in writers if writer.error], [(w.name, w.error) for w in writers]
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


@pytest.mark.parametrize("seed", range(3))
def test_three_clients_were_told_the_truth(seed: int) -> None:
    topics = {name: {"partitions": n, "replication_factor": 3} for name, n in (("plain", 2), ("left", 1), ("right", 1))}
    with KafkaBroker(nodes=3, topics=topics, config=CONFIG) as broker:
        bootstrap = broker.bootstrap_servers
        writers = [Writer(work.__name__, work, bootstrap) for work in (librdkafka, kafka_python, aio)]
        assert advanced(writers, 1, 90)
        chaos = Chaos(seed, seconds=STEPS, faults=15, kinds=KINDS, apis=APIS, lasting=(1.0, 4.0), at_once=2)
        for _ in range(STEPS):
            chaos.step(broker)
            advanced(writers, 2, 1.0)
        chaos.heal(broker)
        assert advanced(writers, 2, 90), [(writer.name, writer.progress) for writer in writers]
        for writer in writers:
            writer.join()
        assert [writer.error for writer in writers] == [None] * 3
        _check(broker, writers)
        assert not broker.bugs
    gc.collect()


def _check(broker: KafkaBroker, writers: Sequence[Writer]) -> None:
    plain = [record.value or b"" for record in broker.records("plain")]
    pairs = [
        record.value or b""
        for topic in ("left", "right")
        for record in broker.records(topic, isolation="read_committed")
    ]
    for found in (plain, pairs):
        assert max(Counter(found).values()) == 1
    for writer in writers[:2]:
        assert set(writer.told.acked) <= set(plain), writer.name
        turn = {value: number for number, value in enumerate(writer.told.sent)}
        numbers = [turn[value] for value in plain if value in turn]
        assert numbers == sorted(numbers), writer.name
    told = writers[2].told
    assert all(set(values) <= set(pairs) for values in told.committed)
    assert not any(set(values) & set(pairs) for values in told.aborted)
    number_of = {value: number // 4 for number, value in enumerate(told.sent)}
    whole = Counter(number_of[value] for value in pairs)
    assert set(whole.values()) == {4}
