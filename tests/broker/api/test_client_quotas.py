"""Client quotas are told and changed as on a real Kafka (tests/scenarios/quota_conversations.py)."""

from __future__ import annotations

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
from tests.fakes.vectors import cases, recorded
from tests.scenarios.quota_conversations import CONVERSATIONS, transcribe


@pytest.mark.parametrize(("name", "release"), cases("quota_conversations", CONVERSATIONS))
def test_client_quotas_are_set_and_described_as_recorded(name: str, release: str) -> None:
    with KafkaBroker(kafka_version=release) as broker:
        assert transcribe(name, broker.bootstrap_servers) == recorded("quota_conversations", release)[name]
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
