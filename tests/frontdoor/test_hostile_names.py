"""Names that clients send write nothing of their own where people read: on terminals, in reports, in the log."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

import odradek
from odradek.__main__ import main
from odradek.commands.serve import _Formatter
from odradek.control.server import ControlServer
from odradek.matchers import assert_committed
from odradek.protocol.generated.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.init_producer_id import InitProducerIdRequest
from odradek.protocol.generated.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from odradek.protocol.generated.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from tests.fakes.wire_client import WireClient

HOSTILE = "a\x1b[2J\x1b]0;t\x07\r\nFORGED \u202ebidi\x9b31m\x00\u2028"


def attack(broker: odradek.KafkaBroker, name: str) -> None:
    """Hand the name in wherever a client may name something."""
    with WireClient.at(broker.bootstrap_servers, client_id=name) as client:
        for kind in (0, 1):
            client.request(FindCoordinatorRequest(name, kind), 3)
        commit = OffsetCommitRequestTopic(
            "t",
            partitions=[
                OffsetCommitRequestPartition(0, 1, committed_metadata=name),
                OffsetCommitRequestPartition(9, 1),
            ],
        )
        client.request(OffsetCommitRequest(name, topics=[commit]), 8)
        protocols = [JoinGroupRequestProtocol(name, b"\0\0\0\0\0\0\0\0\0\0")]
        client.request(
            JoinGroupRequest(
                name + "2", 10_000, member_id="", group_instance_id=name, protocol_type=name, protocols=protocols
            ),
            9,
        )
        producer = client.request(InitProducerIdRequest(name, 60_000), 4)
        added = [AddPartitionsToTxnTopic("t", [0])]
        client.request(AddPartitionsToTxnRequest([], name, producer.producer_id, producer.producer_epoch, added), 3)
        client.request(MetadataRequest([MetadataRequestTopic(name=name)]), 12)


def check(shown: str) -> None:
    lines = shown.split("\n")
    assert [line for line in lines if not line.isprintable() or line.startswith("FORGED")] == []


@pytest.mark.long("test_no_command_and_no_report_shows_them_as_they_are")
def test_no_command_and_no_report_shows_them_as_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with odradek.KafkaBroker(topics={"t": 1}, data_dir=tmp_path / "data") as broker, ControlServer(broker) as server:
        attack(broker, HOSTILE)
        monkeypatch.setenv("ODRADEK_CONTROL", server.url)
        file = tmp_path / "transcript.jsonl"
        broker.requests.save(file)
        commands = [
            ["top", "--once"],
            *(["ctl", word] for word in ("report", "groups", "transactions", "requests")),
            ["ctl", "report", f"{HOSTILE}=1"],
            *(["transcript", str(file), *form] for form in ([], ["--messages"], ["--json"])),
            *(
                ["why", group, "--bootstrap-servers", broker.bootstrap_servers]
                for group in (HOSTILE, HOSTILE + "2", HOSTILE + "none")
            ),
        ]
        for command in commands:
            main(command)
            out, err = capsys.readouterr()
            check(out)
            check(err)
            assert "FORGED" in out + err, command
            if command[-1] == "--json":
                assert any(HOSTILE in json.loads(line).values() for line in out.splitlines())
        check(broker.report())
        check(broker.why(HOSTILE))
        with pytest.raises(AssertionError, match="FORGED") as failed:
            assert_committed(broker, HOSTILE, {("t", 0): 7})
        check(str(failed.value))
        check("\n".join(broker.cluster.recent.lines()))
    for form in ([], ["--json"]):
        main(["dump", str(tmp_path / "data"), *form])
        out = capsys.readouterr().out
        assert "FORGED" in out
        check(out)


def test_no_line_of_the_servers_log_is_theirs() -> None:
    formatter = _Formatter("%(levelname)s %(name)s: %(message)s")
    record = logging.LogRecord(
        "odradek.broker.net", logging.INFO, "", 0, "group %s: %s", (HOSTILE, ValueError(HOSTILE)), None
    )
    check(formatter.format(record))
    assert "\n" not in formatter.format(record)
    try:
        raise ValueError(HOSTILE)
    except ValueError as error:
        bug = logging.LogRecord("odradek", logging.ERROR, "", 0, "bug", (), (ValueError, error, error.__traceback__))
    assert all(line.isprintable() for line in formatter.format(bug).split("\n"))
    assert "Traceback" in formatter.format(bug)
