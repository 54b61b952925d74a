"""The recorded exchanges of the administration APIs: the same request in the same situation gets the same answer.

The set-up calls are not recorded, so each case is put into its situation here. Compared is the whole answer but what
the server makes up (ids, times, sizes); lists of all topics and of deletions have no order of their own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.config.broker_config import DEFAULTS_OF_ODRADEK
from odradek.broker.metadata.image import CONSUMER_OFFSETS, TRANSACTION_STATE, ResourceType
from odradek.broker.releases.release import DEFAULT
from odradek.protocol.apis import API_BY_NAME
from odradek.protocol.json_form import from_json, to_json
from odradek.protocol.uuids import uuid_from_text
from tests.fakes import vectors
from tests.fakes.ask import ask
from tests.fakes.configs import set_configs
from tests.fakes.vectors import OTHER
from tests.scenarios.admin_corpus import (
    CONFIGS,
    DATA_ID,
    OWN_CLUSTER_ID,
    OWN_PORT,
    STATIC,
    asks_for_configs,
    recorded,
    topics_of,
)

MADE_UP = {"logDir", "partitionSize", "totalBytes", "usableBytes"}
OF_THE_QUORUM = {
    "highWatermark",
    "lastCaughtUpTimestamp",
    "lastFetchTimestamp",
    "leaderEpoch",
    "listeners",
    "logEndOffset",
    "replicaDirectoryId",
}
NO_ID = "A" * 22
OWN_DEFAULTS = {*DEFAULTS_OF_ODRADEK, *(name.removeprefix("group.") for name in DEFAULTS_OF_ODRADEK)}


def situation(row: dict[str, Any], release: str, answer: dict[str, Any]) -> Cluster:
    """A cluster as the recording one was when it gave this answer, as far as that shows it."""
    cluster = Cluster(config={**STATIC, "odradek.kafka.version": release}, cluster_id=OWN_CLUSTER_ID)
    cluster.nodes[1].first.port = OWN_PORT
    case: str = row["case"]
    if case.endswith(".all") and row["api"] in ("Metadata", "DescribeLogDirs"):
        for topic in answer.get("topics") or answer["results"][0]["topics"]:
            create_internal_or(cluster, topic["name"], len(topic["partitions"]))
        return cluster
    for name, partitions in topics_of(row).items():
        if name == "g-data":
            cluster.adopt_topic(name, uuid_from_text(DATA_ID), [[1]] * partitions, {})
        else:
            configs = {"retention.ms": "777777"} if name == "g-cfg" else None
            cluster.create_topic(name, partitions=partitions, configs=configs)
    if asks_for_configs(row):
        for kind, name, values in CONFIGS:
            set_configs(cluster, ResourceType(kind), name, values)
    return cluster


def create_internal_or(cluster: Cluster, name: str, partitions: int) -> None:
    if name in (CONSUMER_OFFSETS, TRANSACTION_STATE):
        cluster.ensure_topic(name)
    else:
        cluster.create_topic(name, partitions=partitions)


def comparable(form: Any, made_up: set[str], key: str = "") -> Any:
    if key in made_up:
        return "made up"
    if isinstance(form, dict):
        if form.get("name") in OWN_DEFAULTS and "value" in form:
            form = {**form, "value": "our own"}
        return {name: comparable(value, made_up, name) for name, value in form.items()}
    if isinstance(form, list):
        items = [comparable(item, made_up) for item in form]
        if key in ("topics", "responses", "configResources", "partitions"):
            items.sort(key=lambda item: json.dumps(item, sort_keys=True))
        return items
    return "an id" if key == "topicId" and form != NO_ID else form


def cases() -> Iterator[Any]:
    """The rows with the answers of 4.4.0, and with those of 4.3.1 that differ."""
    newest: dict[str, Any] = vectors.recorded("admin_corpus")
    for row in recorded():
        case, older = row["case"], row["response_json"]
        yield pytest.param(row, DEFAULT, newest[case], id=case)
        if newest[case] != older:
            yield pytest.param(row, OTHER, older, id=f"{case}-{OTHER}")


@pytest.mark.parametrize(("row", "release", "recorded_answer"), list(cases()))
def test_the_answer_is_the_recorded_one(row: dict[str, Any], release: str, recorded_answer: Any) -> None:
    cluster = situation(row, release, recorded_answer)
    version = row["version"]
    request = from_json(API_BY_NAME[row["api"]].request, version, row["request_json"])
    made_up = MADE_UP | (OF_THE_QUORUM if row["case"] == "DescribeQuorum.v2.ok" else set())
    answer = comparable(to_json(ask(cluster, request, version), version), made_up)
    cluster.forget_log_levels(cluster.members)  # Python's loggers are the whole process's
    expected = comparable(recorded_answer, made_up)
    if row["case"] == "ListConfigResources.v1.all":
        # Which topics there were then does not matter; the other kinds do.
        for form in (answer, expected):
            form["configResources"] = [entry for entry in form["configResources"] if entry["resourceType"] != 2]
    assert answer == expected
