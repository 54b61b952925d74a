"""Every recorded request of a real client, in every version, is answered by a broker without meeting a bug.

The set-up calls are not part of the recordings, so the answers are not compared here; what matters is that each handler
can express its answer in each version, whatever state it finds.
"""

from __future__ import annotations

import gzip
import json
import struct
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from odradek.broker.dispatch import load_handlers
from odradek.broker.threaded import KafkaBroker
from odradek.protocol.registry import API_BY_KEY
from odradek.protocol.schema import codec
from tests.broker.probes import Wire

VECTORS = Path(__file__).parents[1] / "vectors" / "corpus.jsonl.gz"
SERVED_WITHIN_S = 10.0


def recorded() -> list[tuple[str, list[dict[str, Any]]]]:
    rows = [json.loads(line) for line in gzip.decompress(VECTORS.read_bytes()).splitlines()]
    served = load_handlers()
    plain = [row for row in rows if row["listener"] == "PLAINTEXT" and row["key"] in served]
    plain.sort(key=lambda row: str(row["api"]))
    return [(api, list(group)) for api, group in groupby(plain, key=lambda row: str(row["api"]))]


@pytest.fixture(scope="module")
def broker() -> Iterator[KafkaBroker]:
    with KafkaBroker(topics={"g-data": 5, "g-comp": {"config": {"cleanup.policy": "compact"}}}) as running:
        yield running


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


def decode_whole(row: dict[str, Any], answer: bytes) -> None:
    version = row.get("response_version", row["version"])
    spec = API_BY_KEY[row["key"]]
    offset = 4 + (1 if spec.response_header_version(version) else 0)
    _, end = codec(spec.response, version).decode(memoryview(answer), offset)
    assert end == len(answer), row["case"]
