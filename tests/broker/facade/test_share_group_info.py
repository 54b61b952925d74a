"""Share groups (KIP-932) seen from Python."""

from __future__ import annotations

from odradek.broker.facade.threaded import KafkaBroker
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from tests.fakes.wire_client import WireClient

CONFIG = {"group.share.assignment.interval.ms": "0"}


def test_all_about_a_share_group() -> None:
    with KafkaBroker(topics={"t": 2}, config=CONFIG) as broker:
        host, port = broker.bootstrap_servers.split(":")
        with WireClient(host, int(port), client_id="c") as client:
            client.request(FindCoordinatorRequest(key_type=0, coordinator_keys=["g"]))
            first = client.request(ShareGroupHeartbeatRequest("g", "m", 0, None, ["t"]), 1)
            assert first.error_code == 0
            info = broker.group("g").wait_stable(members=1)
            while not info.assignments:  # once the share coordinator stores the partitions
                epoch = info.members[0].epoch
                client.request(ShareGroupHeartbeatRequest("g", "m", epoch), 1)
                info = broker.group("g").info
        assert (info.type, info.protocol_type, info.protocol, info.leader) == ("share", "share", "simple", None)
        assert info.generation == info.assignment_epoch == info.members[0].epoch
        (member,) = info.members
        assert (member.member_id, member.client_id, member.host, member.instance_id) == ("m", "c", "/127.0.0.1", None)
        assert (member.subscription, member.assignment, member.target) == (("t",), {"t": (0, 1)}, {"t": (0, 1)})
        assert (member.session_timeout_ms, member.rebalance_timeout_ms, member.protocol) == (45_000, -1, "share")
        assert broker.bugs == []
