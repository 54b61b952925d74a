"""Reports as text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import trio

from odradek.broker.clock import ClockChange
from odradek.broker.facade.groups.info import GroupInfo, MemberInfo, OffsetInfo
from odradek.broker.facade.open_broker import open_broker
from odradek.broker.facade.report.situation import Situation
from odradek.broker.facade.report.text import duration, reasons, report_of, report_text, why_text
from odradek.broker.facade.threaded import KafkaBroker
from odradek.broker.facade.topics import PartitionInfo, TopicInfo
from odradek.broker.facade.transactions import TransactionInfo
from odradek.protocol.generated.messages.fetch import FetchRequest, FetchResponse
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.fakes.exchanges import recorded
from tests.fakes.wire_client import WireClient


def topic(name: str, *ends: int, **more: Any) -> TopicInfo:
    partitions = tuple(PartitionInfo(index, 1, 0, (1,), (1,), 0, end, end, 0, end) for index, end in enumerate(ends))
    return TopicInfo(name, "id", False, partitions, **more)


def member(name: str, *partitions: int) -> MemberInfo:
    return MemberInfo(f"{name}-1", None, name, "/127.0.0.1", ("orders",), {"orders": partitions}, 0, 0)


GROUP = GroupInfo(
    "g",
    "Stable",
    3,
    "consumer",
    "range",
    None,
    (member("c-1", 0), member("c-2")),
    {("orders", 0): OffsetInfo(2, 0, "", 0, 1)},
    1,
    "classic",
    uncommitted=(("orders", 1),),
)


def test_the_report_of_a_broker_as_text() -> None:
    held = TransactionInfo("t-1", "Ongoing", 1, 0, (("orders", 0),), 60_000, 90_000, 1, ("PrepareCommit",))
    over = TransactionInfo("t-2", "CompleteCommit", 1, 0, (), 60_000, None, 1, ())
    situation = Situation(
        topics={"orders": topic("orders", 3, 1)},
        groups={"g": GROUP},
        transactions={"t-1": held, "t-2": over},
        requests=(
            recorded(HeartbeatRequest("g", 3), 4, HeartbeatResponse(), at=1, client_id="c-1"),
            recorded(HeartbeatRequest("g", 3), 4, HeartbeatResponse(), at=2, client_id="c-1"),
            recorded(HeartbeatRequest("g", 3), 4, HeartbeatResponse(0, 25), at=4, client_id="c-1"),
        ),
        now_ms=1_000_000_500,
        frozen=True,
        clock_changes=(ClockChange(100, "start", 0, 0, None), ClockChange(103, "advance", 46, 0, None)),
        origin_s=100,
    )
    assert report_text(situation, "<KafkaBroker at h:1>").splitlines() == [
        "<KafkaBroker at h:1>, clock 1970-01-12 13:46:40.500 UTC, advanced by 46 s, frozen",
        "why (what may explain a failure):",
        "  - Heartbeat of c-1 was answered with UNKNOWN_MEMBER_ID",
        "topics:",
        "  orders-0  0..3",
        "  orders-1  0..1",
        "groups:",
        "  g: Stable, generation 3, 2 members",
        "    c-1 subscribes to orders: has orders-0",
        "    c-2 subscribes to orders: has no partition",
        "    orders-0  committed 2, end 3, lag 1",
        "    orders-1  nothing committed, and there are records",
        "transactions:",
        "  t-1: Ongoing for 90 s, orders-0, held at PrepareCommit",
        "requests:",
        "  +2.000 Heartbeat v4 c-1 group g generation 3 -> ok (2 times)",
        "  --- clock.advance: 46 s",
        "  +4.000 Heartbeat v4 c-1 group g generation 3 -> UNKNOWN_MEMBER_ID",
    ]


def test_replicas_and_ends_that_differ() -> None:
    odd = PartitionInfo(0, 2, 0, (1, 2), (2,), 0, 5, 3, 0, 7)
    lost = PartitionInfo(1, -1, 0, (1,), (1,), 0, 0, 0, 0, 0)
    text = report_text(Situation(topics={"t": TopicInfo("t", "id", False, (odd, lost))}, groups={}))
    assert "t-0  0..5, 2 not replicated, committed to 3, leader 2, in sync 2" in text
    assert "t-1  0..0, no leader, in sync 1" in text


def test_the_text_of_a_report_is_bounded() -> None:
    topics = {f"t{number}": topic(f"t{number}", 1, 1, 1) for number in range(1000)}
    members = tuple(member(f"c-{number}") for number in range(100))
    groups = {
        f"g{number}": GroupInfo(
            **{**{f: getattr(GROUP, f) for f in GROUP.__slots__}, "group_id": f"g{number}", "members": members}
        )
        for number in range(100)
    }
    fetches = tuple(
        recorded(FetchRequest(), 12, FetchResponse(), client_id=f"{'c' * 300}{number}") for number in range(500)
    )
    text = report_text(Situation(topics=topics, groups=groups, requests=fetches))
    assert len(text.splitlines()) < 200
    assert max(map(len, text.splitlines())) <= 225
    assert "+2976 partitions more" in text
    assert "+92 groups more" in text
    assert "(460 before)" in text


@pytest.mark.parametrize(
    ("seconds", "text"), [(46, "46 s"), (0.5, "0.5 s"), (7500, "2 h 5 min"), (3661, "1 h 1 min 1 s")]
)
def test_durations_in_a_report_are_readable(seconds: float, text: str) -> None:
    assert duration(seconds) == text


MEMBER = MemberInfo("c-1", None, "c", "/127.0.0.1", ("orders",), {"orders": (0,)}, 0, 0)
COMMITTED = {("orders", 0): OffsetInfo(3, 0, "", 0, 0)}
DONE = GroupInfo("g", "Stable", 1, "consumer", "range", None, (MEMBER,), COMMITTED, 1, "classic")


@pytest.mark.parametrize(
    ("group", "text"),
    [
        (DONE, "group 'g' has committed all that there is: there is nothing more to read"),
        (replace(DONE, members=(), state="Empty"), "group 'g' has no members (Empty): nobody reads for it"),
        (replace(DONE, state="PreparingRebalance"), "its members get no records until it is Stable"),
        (replace(DONE, unassigned=(("orders", 1),)), "nobody has orders-1, of the topics that it subscribes to"),
        (replace(DONE, offsets={}), "group 'g' has never committed"),
        (replace(DONE, members=(MEMBER, replace(MEMBER, assignment={}))), "1 of its 2 members have no partition"),
    ],
)
def test_why_names_a_reason_from_the_groups_state(group: GroupInfo, text: str) -> None:
    assert any(text in reason for reason in reasons(group))
    assert text in why_text(Situation(topics={}, groups={"g": group}), "g")


def test_why_says_when_nothing_unusual_is_known_of_a_group() -> None:
    behind = replace(DONE, offsets={("orders", 0): OffsetInfo(1, 0, "", 0, 2)})
    topics = {"orders": TopicInfo("orders", "id", False, ())}
    text = why_text(Situation(topics=topics, groups={"g": behind}), "g")
    assert text.startswith("- nothing unusual is known of it\ngroups:\n  g: Stable")


def test_a_group_that_does_not_exist() -> None:
    text = why_text(Situation(topics={}, groups={"shipping": DONE}), "shiping")
    assert text == "group 'shiping' does not exist (did you mean 'shipping'?); the groups: shipping"
    assert why_text(Situation(topics={}, groups={}), "g").endswith("does not exist; there are no groups")


def test_what_is_known_of_other_groups_is_left_out() -> None:
    wrong = replace(MEMBER, subscription=("missing",))
    groups = {"g": DONE, "h": replace(DONE, group_id="h", members=(wrong,))}
    situation = Situation(topics={}, groups=groups)
    assert "missing" not in why_text(situation, "g")
    assert "group 'h' subscribes to 'missing', which does not exist" in why_text(situation, "h")


def test_while_it_runs_and_after_it() -> None:
    with KafkaBroker(topics={"orders": 1}) as broker:
        broker.produce("orders", "one")
        host, _, port = broker.bootstrap_servers.partition(":")
        with WireClient(host, int(port), client_id="app") as client:
            client.request(MetadataRequest([MetadataRequestTopic(name="orders")]), 12)
        first = broker.report()
    after = broker.report()
    for text in (first, after):
        assert "  orders-0  0..1" in text.splitlines()
        assert " Metadata v12 app orders -> 1 node, orders" in text
    assert first.startswith(f"<KafkaBroker at {host}:{port}>, clock ")
    assert after.startswith("<KafkaBroker: the broker is closed>, clock ")


def test_of_a_part_of_the_time() -> None:
    with KafkaBroker(topics={"orders": 1, "other": 1}) as broker:
        with WireClient.at(broker.bootstrap_servers) as client:
            client.request(MetadataRequest([MetadataRequestTopic(name="other")]), 12)
            broker.requests.wait("Metadata")
            now = broker.clock.face.source()
            assert report_of(broker.cluster, broker._look, "t", now, asked_only=True) == ""
            client.request(MetadataRequest([MetadataRequestTopic(name="orders")]), 12)
        text = report_of(broker.cluster, broker._look, "t", now, asked_only=True)
        assert "orders-0" in text
        assert "other" not in text
        assert "other-0" in report_of(broker.cluster, broker._look, "t", now, asked_only=False)


def test_why_works_in_trio() -> None:
    async def main() -> None:
        async with open_broker(topics={"orders": 1}) as broker:
            await broker.group("g").set_offsets({("orders", 0): 0})
            assert "orders-0  0..0" in broker.report()
            assert "group 'g' has no members (Empty)" in broker.why("g")
            assert "group 'h' does not exist" in broker.why("h")

    trio.run(main)
