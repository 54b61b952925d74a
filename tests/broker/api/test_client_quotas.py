"""Client quotas are told and changed as on a real Kafka 4.3.1 (tests/scenarios/quota_conversations.py)."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.facade.threaded import KafkaBroker
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from odradek.protocol.generated.messages.describe_client_quotas import DescribeClientQuotasRequest
from tests.fakes.ask import ask
from tests.scenarios.quota_conversations import CONVERSATIONS, transcribe

VECTORS = Path(__file__).parents[2] / "vectors" / "quota_conversations.json.gz"
RECORDED: dict[str, Any] = json.loads(gzip.decompress(VECTORS.read_bytes()))


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_conversation(name: str, shared_broker: KafkaBroker) -> None:
    host, port = shared_broker.bootstrap_servers.rsplit(":", 1)
    assert transcribe(name, host, int(port)) == RECORDED[name]


@pytest.fixture(scope="module")
def shared_broker() -> Any:
    with KafkaBroker() as broker:
        yield broker
        assert not broker.bugs


def test_quotas_are_records_of_the_metadata_log() -> None:
    cluster = Cluster()
    entry = EntryData([EntityData("user", "a"), EntityData("client-id", None)], [OpData("producer_byte_rate", 5.0)])
    answer = ask(cluster, AlterClientQuotasRequest([entry]))
    assert [each.error_code for each in answer.entries] == [ErrorCode.NONE]
    assert cluster.image.quotas == {(("client-id", None), ("user", "a")): {"producer_byte_rate": 5.0}}
    before = cluster.image.offset
    ask(cluster, AlterClientQuotasRequest([entry]))
    assert cluster.image.offset == before, "the same value again is no change"
    found = ask(cluster, DescribeClientQuotasRequest([])).entries
    assert [(value.key, value.value) for each in found for value in each.values] == [("producer_byte_rate", 5.0)]
