"""Raw probes of bad input, sent to a broker: whether it answers, closes the connection or stays silent.

The probes and what Kafka 4.3.1 did lie in ``tests/vectors/behaviour-4.3.jsonl.gz``. This sends those of the plain
listener to a real Kafka 4.4.0 with `node.id=1`, and writes what it does:

    python -m tests.scenarios.bad_input HOST:PORT tests/vectors/behaviour.jsonl.gz
"""

from __future__ import annotations

import gzip
import json
import struct
import sys
from pathlib import Path
from typing import Any

from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.broker.probes import OLDER, WITH_A_SHUTDOWN, Wire
from tests.fakes.wire_client import WireClient

P_DATA_ID = bytes.fromhex("6144b02c54ce44b3a3a07a32979b25c5")
"""The id of the topic `p-data` in the probes."""
CONFIGS = {"p-small": {"max.message.bytes": "1000"}, "p-comp": {"cleanup.policy": "compact"}, "p-data": {}}
_SILENT_S = 4.0
_SEED = "produce-ok-v9"


def make_topics(host: str, port: int) -> bytes:
    """Make the topics of the probes; returns the id of `p-data`."""
    topics = [
        CreatableTopic(name, 1, 1, configs=[CreatableTopicConfig(*config) for config in configs.items()])
        for name, configs in CONFIGS.items()
    ]
    with WireClient(host, port) as client:
        client.request(CreateTopicsRequest(topics, 30_000), 7)
        while True:
            found = client.request(MetadataRequest([MetadataRequestTopic(name=name) for name in CONFIGS]), 12).topics
            if all(topic.error_code == 0 for topic in found):
                return next(bytes(topic.topic_id) for topic in found if topic.name == "p-data")


def told(row: dict[str, Any], address: tuple[str, int], topic_id: bytes) -> dict[str, Any]:
    """What came of a probe, in the form of the recordings."""
    kept = {key: row[key] for key in ("case", "listener", "sent_hex")}
    sent = bytes.fromhex(row["sent_hex"]).replace(P_DATA_ID, topic_id)
    with Wire(address) as wire:
        wire.send(sent)
        if row["case"] in WITH_A_SHUTDOWN:
            wire.finish()
        answers = []
        wanted = max(1, len(row["response_hex"]) if isinstance(row.get("response_hex"), list) else 1)
        try:
            for _ in range(wanted):
                answer = wire.frame(_SILENT_S)
                if answer is None:
                    break
                answers.append(answer.replace(topic_id, P_DATA_ID).hex())
        except TimeoutError:
            if not answers:
                return {**kept, "outcome": "no_reply"}
        if not answers:
            return {**kept, "outcome": "closed"}
        return {**kept, "outcome": "response", "response_hex": answers, "connection_after": _after(wire)}


def _after(wire: Wire) -> str:
    wire.send(struct.pack(">ihhih", 10, 18, 0, 4711, -1))
    try:
        return "closed" if wire.frame(_SILENT_S) is None else "usable"
    except TimeoutError:
        return "silent"


def main(host: str, port: int, file: Path) -> None:
    rows = [json.loads(line) for line in gzip.decompress(OLDER.read_bytes()).splitlines()]
    topic_id = make_topics(host, port)
    told(next(row for row in rows if row["case"] == _SEED), (host, port), topic_id)
    lines = [
        json.dumps(told(row, (host, port), topic_id) if row["listener"] == "PLAINTEXT" else row, sort_keys=True)
        for row in rows
    ]
    file.write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))


if __name__ == "__main__":
    at, _, number = sys.argv[1].rpartition(":")
    main(at, int(number), Path(sys.argv[2]))
