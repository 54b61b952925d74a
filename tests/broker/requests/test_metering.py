"""What requests cost under quotas: bytes, work and partitions, and what their clients are answered. Figures by hand."""

from __future__ import annotations

from typing import Any

from odradek.broker.cluster import Cluster
from odradek.broker.controller.quota_control import QuotaChange, alter_quotas
from odradek.broker.controller.topic_control import NewTopic, create_topics
from odradek.broker.metadata.image import QuotaEntity
from odradek.broker.requests.context import ConnectionInfo, RequestContext
from odradek.broker.requests.dispatch import Pending, Throttled
from odradek.broker.requests.parked_request import Parked
from odradek.protocol.file_slice import joined
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest
from odradek.protocol.generated.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ReplicaState,
)
from odradek.protocol.generated.messages.metadata import MetadataRequest
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.generated.messages.sasl_handshake import SaslHandshakeRequest
from odradek.protocol.generated.messages.share_fetch import ShareFetchRequest
from odradek.protocol.generated.messages.write_txn_markers import WriteTxnMarkersRequest
from odradek.protocol.message_codec import codec
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from tests.broker.conftest import request_frame, response_of

APP: QuotaEntity = (("client-id", "app"),)
WINDOW_MS = 10_000
"""Kafka counts a window that has just begun as if all its samples but one had passed: 10 of 11 seconds."""


class Asked:
    """A broker whose clock stands still, asked without sockets; `wait_ms` is how long the client has to wait."""

    def __init__(self, config: dict[str, str] | None = None) -> None:
        self.cluster = Cluster(config=config)
        self.cluster.clock.freeze()
        self.cluster.controller.ask(create_topics, [NewTopic("t", 1)])
        self.info = ConnectionInfo(id="c1")
        self.wait_ms = 0

    def set(self, entity: QuotaEntity = APP, **quotas: float | None) -> None:
        self.cluster.controller.ask(alter_quotas, [QuotaChange(entity, list(quotas.items()))])

    def work(self, *ns: int) -> None:
        """How long each of the next requests works, in nanoseconds."""
        meter = self.cluster.dispatcher.meter
        assert meter is not None
        times = iter([each for one in ns for each in (0, one)])
        meter.work_ns = lambda: next(times, 0)

    def ask(self, request: Any, version: int, client_id: str = "app") -> Any:
        frame = request_frame(request, version, client_id=client_id)
        answer = self.cluster.dispatcher.begin(self.cluster.nodes[1], self.info, memoryview(frame)[4:])
        if isinstance(answer, Pending) and isinstance(answer.response, Parked):
            self.cluster.clock.advance(1)
            answer = self.cluster.dispatcher.resume(answer)
        self.wait_ms = 0
        if isinstance(answer, Throttled):
            self.wait_ms = answer.until_ms - self.cluster.clock.now_ms()
            answer = answer.parts
        assert not isinstance(answer, Pending)
        assert not self.cluster.bug_log.bugs
        return None if answer is None else response_of(request, version, joined(answer)[4:])[1]

    def produce(self, size: int, acks: int = 1) -> tuple[Any, int]:
        """The answer, and the size of the frame."""
        batch = build_batch([Record(0, self.cluster.clock.now_ms(), None, bytes(size), ())])
        request = ProduceRequest(
            None, acks, 1000, [TopicProduceData("t", partition_data=[PartitionProduceData(0, batch)])]
        )
        return self.ask(request, 9), len(request_frame(request, 9, client_id="app")) - 4

    def fetch(self, offset: int = 0, session: tuple[int, int] = (0, -1), version: int = 12, **other: Any) -> Any:
        topic = FetchTopic("t", partitions=[FetchPartition(0, fetch_offset=offset, partition_max_bytes=1 << 20)])
        asked = [topic] if session[1] <= 0 else []
        fields = {"max_wait_ms": 0, "min_bytes": 1, "max_bytes": 1 << 20, **other}
        request = FetchRequest(session_id=session[0], session_epoch=session[1], topics=asked, **fields)
        return self.ask(request, version)


def delay_ms(used: float, quota: float) -> int:
    """By hand: as long as it takes until what was used in the window is no more than the quota allows."""
    return int((used / 10 - quota) / quota * WINDOW_MS + 0.5)


def test_produce_counts_its_frame_and_waits_until_its_rate_is_its_quota() -> None:
    asked = Asked()
    asked.set(producer_byte_rate=1000.0)
    response, used = asked.produce(9_000)
    assert (response.throttle_time_ms, asked.wait_ms) == (0, 0)
    response, size = asked.produce(9_000)
    used += size
    assert response.responses[0].partition_responses[0].base_offset == 1, "the answer is whole"
    assert response.throttle_time_ms == asked.wait_ms == delay_ms(used, 1000.0) > 8000
    (throttle,) = asked.cluster.services.quotas.throttled()  # type: ignore[union-attr]
    assert (throttle.client_id, throttle.quota, throttle.wait_ms) == ("app", "producer_byte_rate", asked.wait_ms)
    asked.cluster.clock.advance(asked.wait_ms / 1000)
    assert asked.cluster.services.quotas.throttled() == []  # type: ignore[union-attr]
    asked.cluster.clock.advance(11)
    assert asked.produce(9_000)[0].throttle_time_ms == 0


def test_produce_without_acks_waits_too() -> None:
    asked = Asked()
    asked.set(producer_byte_rate=1000.0, request_percentage=0.01)
    asked.work(10**9)
    response, used = asked.produce(20_000, acks=0)
    assert response is None
    assert asked.wait_ms == delay_ms(used, 1000.0), "only its bytes count, not its work"


def test_old_versions_wait_without_being_told() -> None:
    asked = Asked()
    asked.set(request_percentage=1.0)
    asked.work(10**9, 10**9)
    assert asked.ask(MetadataRequest([]), 0).throttle_time_ms == 0
    assert asked.wait_ms == 1000
    assert asked.ask(ApiVersionsRequest(), 0).throttle_time_ms == 0
    assert asked.wait_ms == 1000


def test_work_is_counted_in_percent_of_a_thread_and_waits_a_sample_at_most() -> None:
    asked = Asked()
    asked.set(request_percentage=2.0)
    asked.work(200_000_000, 1_000_000, 10**9)
    assert asked.ask(MetadataRequest([]), 12).throttle_time_ms == 0
    assert asked.ask(MetadataRequest([]), 12).throttle_time_ms == 50  # 20.1 % in ten seconds, where 2 % a second may be
    kept = asked.ask(ApiVersionsRequest("a", "1"), 4)
    assert kept.throttle_time_ms == asked.wait_ms == 1000
    assert kept.api_keys, "an answer that is kept encoded is told the time as well"
    asked.cluster.clock.advance(12)
    asked.work(0)
    assert asked.ask(ApiVersionsRequest("a", "1"), 4).throttle_time_ms == 0, "and is not changed by it"


def test_fetch_over_its_quota_has_no_records_and_is_not_counted() -> None:
    asked = Asked()
    for _ in range(3):
        asked.produce(9_000)
    asked.set(consumer_byte_rate=1000.0)
    early = asked.fetch()
    assert early.responses == [], "the window's bytes and the answer's header are more than the window's bytes"
    assert early.throttle_time_ms == asked.wait_ms < 100
    asked.cluster.clock.advance(early.throttle_time_ms / 1000)
    first = asked.fetch()
    assert len(first.responses[0].partitions[0].records) == 10_000, "no more at once than the window's bytes"
    assert first.throttle_time_ms == 0
    second = asked.fetch(1)
    assert second.responses == []
    assert (second.error_code, second.throttle_time_ms) == (0, asked.wait_ms)
    assert asked.wait_ms > 8000
    asked.cluster.clock.advance(11)
    again = asked.fetch(2)
    assert len(again.responses[0].partitions[0].records) == 9_000 + 72
    assert again.throttle_time_ms == 0


def test_a_fetch_that_waited_is_counted_when_it_is_answered() -> None:
    asked = Asked()
    asked.set(request_percentage=1.0)
    asked.work(10**9)
    assert asked.fetch(0, max_wait_ms=1000).throttle_time_ms == 1000


def test_other_clients_and_other_nodes_are_not_throttled() -> None:
    asked = Asked()
    asked.set(request_percentage=1.0)
    asked.work(10**9, 10**9, 10**9)
    assert asked.ask(MetadataRequest([]), 12).throttle_time_ms == 1000
    assert asked.ask(MetadataRequest([]), 12, client_id="other").throttle_time_ms == 0


def test_the_longer_time_counts_and_is_named() -> None:
    asked = Asked()
    asked.set(producer_byte_rate=1000.0, request_percentage=1.0)
    quotas = asked.cluster.services.quotas
    assert quotas is not None
    named = []
    for size in (20_000, 10):
        asked.work(10**9)
        asked.produce(size)
        named += [(throttle.quota, throttle.wait_ms == asked.wait_ms) for throttle in quotas.throttled()]
        asked.cluster.clock.advance(30)
    assert named == [("producer_byte_rate", True), ("request_percentage", True)]


def test_a_share_fetch_reads_no_more_than_the_window_allows() -> None:
    asked = Asked()
    asked.set(consumer_byte_rate=100.0)
    meter = asked.cluster.dispatcher.meter
    assert meter is not None
    seen: list[tuple[int, int]] = []
    serve = meter.metered(lambda ctx, request: seen.append((request.max_bytes, request.min_bytes)))
    for client_id in ("app", "other"):
        node = asked.cluster.nodes[1]
        ctx = RequestContext(asked.cluster.services, node, asked.info, ShareFetchRequest.API_KEY, 1, 1, client_id)
        ctx.charge = meter.charge_of(memoryview(b""))
        serve(ctx, ShareFetchRequest(max_bytes=5000, min_bytes=2000))
    assert seen == [(1000, 1000), (5000, 2000)]


def test_followers_fetch_without_quotas() -> None:
    asked = Asked()
    asked.set(consumer_byte_rate=100.0, request_percentage=1.0)
    meter = asked.cluster.dispatcher.meter
    assert meter is not None
    read: list[int] = []
    serve = meter.metered(lambda ctx, request: read.append(request.max_bytes))
    for version, replica, state in ((12, 0, -1), (15, -1, 0), (12, -1, -1)):
        ctx = RequestContext(
            asked.cluster.services, asked.cluster.nodes[1], asked.info, FetchRequest.API_KEY, version, 1, "app"
        )
        ctx.charge = meter.charge_of(memoryview(b""))
        ctx.charge.busy_ns = 10**9
        request = FetchRequest(replica_id=replica, replica_state=ReplicaState(state), max_bytes=5000)
        serve(ctx, request)
        _, throttle = meter.settle(codec(FetchResponse, version), ctx, request, FetchResponse())
        assert (throttle is None) is (max(replica, state) >= 0)
    assert read == [5000, 5000, 1000]


def test_an_answer_without_a_place_for_the_time_is_sent_as_it_is() -> None:
    asked = Asked()
    asked.set(request_percentage=1.0)
    asked.work(10**9)
    assert asked.ask(SaslHandshakeRequest("PLAIN"), 1).mechanisms == []
    assert asked.wait_ms == 1000


def test_markers_of_transactions_cost_no_time() -> None:
    asked = Asked()
    asked.set(request_percentage=1.0)
    asked.work(10**9)
    assert asked.ask(WriteTxnMarkersRequest([]), 1).markers == []
    assert asked.wait_ms == 0


def test_the_limit_of_a_fetch_is_a_number_of_32_bits() -> None:
    asked = Asked()
    asked.set(consumer_byte_rate=2.0**40)
    meter = asked.cluster.dispatcher.meter
    assert meter is not None
    ctx = RequestContext(asked.cluster.services, asked.cluster.nodes[1], asked.info, FetchRequest.API_KEY, 12, 1, "app")
    ctx.charge = meter.charge_of(memoryview(b""))
    request = FetchRequest(max_bytes=2**31 - 1)
    meter.metered(lambda ctx, request: None)(ctx, request)
    assert request.max_bytes == 2**31 - 1
