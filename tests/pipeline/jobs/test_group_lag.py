"""Lag needs Spark and a log: the rows are in test_groups. Here is what a place has."""

from __future__ import annotations

from pathlib import Path

from odradek.broker.facade.threaded import KafkaBroker
from odradek.pipeline.jobs.group_lag import topics_of
from odradek.pipeline.jobs.logs import LogPlace


def test_the_topics_of_a_folder_and_of_a_cluster(golden_log_dir: Path) -> None:
    assert {"__consumer_offsets", "__transaction_state"} <= topics_of(LogPlace(path=str(golden_log_dir)))
    with KafkaBroker(topics={"a": 1}) as broker:
        assert topics_of(LogPlace(bootstrap_servers=broker.bootstrap_servers)) == {"a"}
