"""Nulls where a config needs a value, as real brokers of 2.8.2, 3.3.2, 3.6.2, 3.9.1 and 4.4.0 answer them."""

from __future__ import annotations

import pytest

from odradek import KafkaBroker
from odradek.protocol.generated.messages import alter_configs, incremental_alter_configs
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from tests.fakes.wire_client import WireClient

NEWER = [
    (40, "Null value not supported for topic configs: retention.ms"),
    (42, "Null value not supported for : retention.ms"),
    (42, "Null value not supported for : retention.ms"),
]
TOLD = {
    "2.8": [
        (42, "Null value not supported for topic configs : retention.ms"),
        (-1, None),
        (42, "Null value not supported for : SET:retention.ms"),
    ],
    **dict.fromkeys(("3.3", "3.6", "3.9", "4.4"), NEWER),
}
CONFIG = ("retention.ms", None)


@pytest.mark.parametrize(("version", "told"), TOLD.items())
def test_null_configs_are_answered_as_the_release_did(version: str, told: list[tuple[int, str | None]]) -> None:
    new = CreatableTopic("new", 1, 1, configs=[CreatableTopicConfig(*CONFIG)])
    alter = alter_configs.AlterConfigsResource(2, "t", [alter_configs.AlterableConfig(*CONFIG)])
    increment = incremental_alter_configs.AlterConfigsResource(
        2, "t", [incremental_alter_configs.AlterableConfig(CONFIG[0], 0, CONFIG[1])]
    )
    with KafkaBroker(kafka_version=version, topics={"t": 1}) as broker:
        with WireClient.at(broker.bootstrap_servers) as client:
            answers = [
                client.request(CreateTopicsRequest([new], 30_000), 5).topics[0],
                client.request(alter_configs.AlterConfigsRequest([alter]), 1).responses[0],
                client.request(incremental_alter_configs.IncrementalAlterConfigsRequest([increment]), 1).responses[0],
            ]
        assert [(answer.error_code, answer.error_message) for answer in answers] == told
        assert broker.bugs == []
