"""Raw probes of bad input, sent to a broker: whether it answers, closes the connection or stays silent.

The probes and what Kafka 4.3.1 did lie in ``tests/vectors/behaviour-4.3.jsonl.gz``. This sends them to a real Kafka
4.4.0, and writes what it does:

    python -m tests.scenarios.bad_input tests/vectors/behaviour.jsonl.gz
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
from tests.conformance.real_kafka import free_ports
from tests.fakes.wire_client import WireClient
from tests.scenarios.admin_corpus import NodeOne
from tests.scenarios.sasl_broker import jaas

P_DATA_ID = bytes.fromhex("6144b02c54ce44b3a3a07a32979b25c5")
"""The id of the topic `p-data` in the probes."""
CONFIGS = {"p-small": {"max.message.bytes": "1000"}, "p-comp": {"cleanup.policy": "compact"}, "p-data": {}}
SASL = "SASL_PLAINTEXT"
SASL_CONFIG = {
    "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512,SCRAM-SHA-256",
    "listener.name.sasl_plaintext.plain.sasl.jaas.config": jaas("PLAIN", user_alice="alice-secret"),
    "listener.name.sasl_plaintext.scram-sha-512.sasl.jaas.config": jaas("SCRAM-SHA-512"),
    "listener.name.sasl_plaintext.scram-sha-256.sasl.jaas.config": jaas("SCRAM-SHA-256"),
}
"""Of a broker that knows the user of the probes."""
AFTER_A_LOGIN = frozenset({"corpus-DescribeUserScramCredentials.v0.denied-null-users"})
"""Sent to 4.3.1 by a user without rights, whose log-in is not in the recording."""
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


class BadInputKafka(NodeOne):
    """A real Kafka with the two listeners of the probes."""

    sasl_port = 0

    def properties(self) -> dict[str, str]:
        usual = super().properties()
        self.sasl_port = self.sasl_port or free_ports(1)[0]
        both = f"PLAINTEXT://127.0.0.1:{self.port},{SASL}://127.0.0.1:{self.sasl_port}"
        return {
            **usual,
            **SASL_CONFIG,
            "listeners": f"{both},CONTROLLER://127.0.0.1:{self._controller_port}",
            "advertised.listeners": both,
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT",
        }


def main(file: Path) -> None:
    rows = [json.loads(line) for line in gzip.decompress(OLDER.read_bytes()).splitlines()]
    kafka = BadInputKafka()
    with kafka:
        ports = {"PLAINTEXT": kafka.port, SASL: kafka.sasl_port}
        topic_id = make_topics("127.0.0.1", kafka.port)
        told(next(row for row in rows if row["case"] == _SEED), ("127.0.0.1", kafka.port), topic_id)
        lines = [
            json.dumps(told(row, ("127.0.0.1", ports[row["listener"]]), topic_id), sort_keys=True)
            for row in rows
            if row["case"] not in AFTER_A_LOGIN
        ]
    file.write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
