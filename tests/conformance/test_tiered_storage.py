"""What is recorded of tiered storage is still what a real Kafka says."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.conformance.kafka_suite.jars import KAFKA_VERSION as VERSION_OF_TEST_JARS
from tests.conformance.kafka_suite.jars import libraries
from tests.conformance.real_kafka import KAFKA_VERSION, RealKafka, Unavailable
from tests.fakes.wire_client import WireClient
from tests.scenarios.tiered_storage import BROKER, CASES, FORGETS, KEEPS, VECTORS, transcribe

_METADATA = "rlmm.config.remote.log.metadata.topic."


@contextmanager
def tiered_kafka(case: str) -> Iterator[WireClient]:
    """A Kafka with the managers of its own tests; the jar that has them is no part of a release."""
    own = CASES[case][0]
    jar = "storage-api" if own is FORGETS else "storage"
    if own is KEEPS and KAFKA_VERSION != VERSION_OF_TEST_JARS:
        raise Unavailable(f"the storage manager for tests of {VERSION_OF_TEST_JARS} does not load in {KAFKA_VERSION}")
    path = str(libraries() / f"kafka-{jar}-{VERSION_OF_TEST_JARS}-test.jar")
    config = {**BROKER, **own, "remote.log.storage.manager.class.path": path}
    if own is FORGETS:
        config["remote.log.metadata.manager.class.path"] = path
    else:
        config |= {f"{_METADATA}replication.factor": "1", f"{_METADATA}num.partitions": "1"}
    with (
        tempfile.TemporaryDirectory(prefix="odradek-tier-") as tier,
        RealKafka(heap="256m", config={**config, "rsm.config.dir": tier}) as node,
        WireClient(port=node.port) as client,
    ):
        yield client


@pytest.mark.parametrize("case", CASES)
def test_kafka_says_what_is_recorded(case: str) -> None:
    try:
        with tiered_kafka(case) as client:
            assert transcribe(client, CASES[case][1]) == json.loads(VECTORS.read_text())[case]
    except Unavailable as missing:
        pytest.skip(str(missing))


def record() -> None:
    """Ask anew, and write what was said."""
    told = {}
    for case, (_, stories) in CASES.items():
        with tiered_kafka(case) as client:
            told[case] = transcribe(client, stories)
    VECTORS.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    record()
