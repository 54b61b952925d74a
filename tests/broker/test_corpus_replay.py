"""Every recorded request of a real client, in every version, is answered by a broker without meeting a bug.

The set-up calls are not part of the recordings, so the answers are not compared here; what matters is that each handler
can express its answer in each version, whatever state it finds.
"""

from __future__ import annotations

import gzip
import json
import struct
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from odradek.broker.api.served import SERVED
from odradek.broker.facade.threaded import KafkaBroker
from odradek.protocol.apis import API_BY_KEY
from odradek.protocol.errors import ProtocolError
from odradek.protocol.generated.messages.join_group import JoinGroupRequest
from odradek.protocol.headers import decode_request_header
from odradek.protocol.message_codec import codec
from tests.broker.conftest import request_frame
from tests.broker.probes import Wire
from tests.fakes.brokers import broker_fixture

VECTORS = Path(__file__).parents[1] / "vectors" / "corpus.jsonl.gz"
SERVED_WITHIN_S = 30.0


@cache
def recorded() -> list[tuple[str, list[dict[str, Any]]]]:
    rows = [json.loads(line) for line in gzip.decompress(VECTORS.read_bytes()).splitlines()]
    served = SERVED.all()
    plain = [row for row in rows if row["listener"] == "PLAINTEXT" and row["key"] in served]
    plain.sort(key=lambda row: str(row["api"]))
    return [(api, list(group)) for api, group in groupby(plain, key=lambda row: str(row["api"]))]


broker = broker_fixture(scope="module", topics={"g-data": 5, "g-comp": {"config": {"cleanup.policy": "compact"}}})


@pytest.mark.long("Fetch")
@pytest.mark.parametrize(("api", "rows"), recorded(), ids=lambda value: value if isinstance(value, str) else "rows")
def test_every_recorded_request_is_answered(broker: KafkaBroker, api: str, rows: list[dict[str, Any]]) -> None:
    host, _, port = broker.bootstrap_servers.partition(":")
    known = len(broker.bugs)
    unanswered = []
    with Wire((host, int(port))) as wire:
        for row in rows:
            frame = bytes.fromhex(row["request_hex"])
            if row["response_hex"] is None or "acks-0" in row["case"]:
                continue  # no answer, and a cut connection for a topic that is not there
            wire.send(struct.pack(">i", len(frame)) + frame)
            answer = wire.frame(SERVED_WITHIN_S)
            if answer is None:
                unanswered.append(row["case"])
                break
            decode_whole(row, answer)
    assert not broker.bugs[known:], broker.bugs[known]
    assert not unanswered


@pytest.mark.long
@pytest.mark.parametrize(("api", "rows"), recorded(), ids=lambda value: value if isinstance(value, str) else "rows")
def test_every_recorded_request_is_answered_in_every_other_version(
    broker: KafkaBroker, api: str, rows: list[dict[str, Any]]
) -> None:
    spec = API_BY_KEY[rows[0]["key"]]
    handler = SERVED.all()[spec.key]
    known = len(broker.bugs)
    host, _, port = broker.bootstrap_servers.partition(":")
    wire = Wire((host, int(port)))
    for row in rows:
        if row["response_hex"] is None or "acks-0" in row["case"] or "long-poll" in row["note"]:
            continue
        _, offset = decode_request_header(bytes.fromhex(row["request_hex"]))
        request, _ = codec(spec.request, row["version"]).decode(memoryview(bytes.fromhex(row["request_hex"])), offset)
        shorten_waits(request)
        for version in range(handler.min_version, handler.max_version + 1):
            if isinstance(request, JoinGroupRequest):
                request.group_id = f"{row['case']}-{version}"  # a group of its own has nobody to wait for
            try:
                frame = request_frame(request, version)
            except ProtocolError:
                continue  # it says something that the other version cannot say
            wire.send(frame)
            answer = wire.frame(SERVED_WITHIN_S)
            assert not broker.bugs[known:], broker.bugs[known]
            if answer is None:  # Kafka, too, closes on what it cannot express (ACLs of version 0, ...)
                wire = Wire((host, int(port)))
            else:
                decode_whole({**row, "version": version, "response_version": version}, answer)
    wire.close()


def shorten_waits(request: Any) -> None:
    """Nobody else takes part in these tests, so waiting for others is lost time."""
    for field in ("max_wait_ms", "rebalance_timeout_ms"):
        if hasattr(request, field):
            setattr(request, field, min(getattr(request, field), 5))


def decode_whole(row: dict[str, Any], answer: bytes) -> None:
    version = row.get("response_version", row["version"])
    spec = API_BY_KEY[row["key"]]
    offset = 4 + (1 if spec.response_header_version(version) else 0)
    _, end = codec(spec.response, version).decode(memoryview(answer), offset)
    assert end == len(answer), row["case"]
