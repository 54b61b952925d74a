"""AlterReplicaLogDirs at a broker with one log directory: nothing can be moved, and what is asked for may be there."""

from __future__ import annotations

import pytest

from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from odradek.protocol.generated.messages.describe_log_dirs import DescribeLogDirsRequest
from tests.fakes.wire_client import WireClient
from tests.scenarios.fixtures import MakeTopic
from tests.scenarios.target import Target


@pytest.mark.parametrize("version", [1, 2])
def test_one_log_directory(broker: Target, make_topic: MakeTopic, version: int) -> None:
    topic = make_topic(partitions=2)
    with WireClient.at(broker.bootstrap, timeout_s=60) as client:
        (directory,) = client.request(DescribeLogDirsRequest(None), 4).results
        here = directory.log_dir

        def moved(*asked: tuple[str, str, list[int]]) -> list[tuple[str, list[tuple[int, str]]]]:
            dirs = [AlterReplicaLogDir(path, [AlterReplicaLogDirTopic(name, parts)]) for path, name, parts in asked]
            answer = client.request(AlterReplicaLogDirsRequest(dirs), version)
            assert answer.throttle_time_ms == 0
            return [
                (each.topic_name, [(part.partition_index, ErrorCode(part.error_code).name) for part in each.partitions])
                for each in answer.results
            ]

        assert moved() == []
        assert sorted(moved((here, topic, [1, 0]))[0][1]) == [(0, "NONE"), (1, "NONE")]  # the order is the name's
        for elsewhere in ("/nonesuch", "", here + "/", here[1:]):
            assert moved((elsewhere, topic, [0])) == [(topic, [(0, "LOG_DIR_NOT_FOUND")])]
            assert moved((elsewhere, "nonesuch", [0])) == [("nonesuch", [(0, "LOG_DIR_NOT_FOUND")])]
        for name, index in ((topic, 2), (topic, -1), ("nonesuch", 0), ("", 0), ("a b", 0), ("x" * 213, 0)):
            assert moved((here, name, [index])) == [(name, [(index, "UNKNOWN_TOPIC_OR_PARTITION")])]
        for path in (here, "/nonesuch"):
            assert moved((path, "x" * 214, [0])) == [("x" * 214, [(0, "INVALID_TOPIC_EXCEPTION")])]
        assert moved((here, topic, [0]), ("/nonesuch", topic, [0])) == [(topic, [(0, "LOG_DIR_NOT_FOUND")])]
        assert moved(("/nonesuch", topic, [0]), (here, topic, [0])) == [(topic, [(0, "NONE")])]
        many = moved(*((here, name, [0, 3]) for name in ("aa", "b", "c-1", "zz-top", "topic-4")))
        assert [(name, [index for index, _ in parts]) for name, parts in many] == ORDER
        assert {code for _, parts in many for _, code in parts} == {"UNKNOWN_TOPIC_OR_PARTITION"}


ORDER = [("c-1", [3, 0]), ("b", [3, 0]), ("zz-top", [0, 3]), ("aa", [0, 3]), ("topic-4", [3, 0])]
"""As Scala's hash maps have it."""
