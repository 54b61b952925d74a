"""The data source, Spark's own connector and the jobs at a cluster that asks for a log-in, with the same options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from odradek.client_security.options import ClientSecurity
from odradek.pipeline.cluster_client import ClusterClient
from odradek.pipeline.jobs import audit
from odradek.pipeline.jobs.logs import LogPlace
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from tests.scenarios.secured_listeners import PASSWORDS, Secured, java_jaas, secured_broker
from tests.scenarios.test_wire_security import login

pytestmark = [pytest.mark.clients, pytest.mark.jdk]


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    with secured_broker("odradek", tmp_path_factory.mktemp("secured")) as started:
        options = login(started, "SCRAM-SHA-512")
        with ClusterClient(started.addresses["LOGIN"], security=ClientSecurity.parse(options)) as client:
            client.create_topics({"secured": 1})
            client.produce("secured", 0, build_batch([Record(0, 1, b"k", b"v%d" % n, ()) for n in range(3)]))
        yield started


def values(spark: Any, kind: str, secured: Secured, options: dict[str, str]) -> list[bytes]:
    reader = spark.read.format(kind).option("kafka.bootstrap.servers", secured.addresses["LOGIN"])
    reader = reader.options(**{f"kafka.{name}": value for name, value in options.items()})
    rows = reader.option("subscribe", "secured").load().select("offset", "value").collect()
    return [bytes(row.value) for row in sorted(rows)]


def test_source_and_connector_take_the_same_options(spark: Any, secured: Secured) -> None:
    options = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.jaas.config": java_jaas("scram.ScramLoginModule", username="alice", password=PASSWORDS["alice"]),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(secured.authority.ca),
    }
    assert values(spark, "odradek", secured, options) == [b"v0", b"v1", b"v2"]
    assert values(spark, "kafka", secured, options) == [b"v0", b"v1", b"v2"]


def test_a_job_logs_in_and_a_wrong_password_is_told(spark: Any, secured: Secured) -> None:
    place = LogPlace(bootstrap_servers=secured.addresses["LOGIN"], security=login(secured, "PLAIN"))
    assert audit.run(spark, place, "secured").passed
    wrong = login(secured, "PLAIN", password="guess")
    with pytest.raises(Exception, match="Invalid username or password") as caught:
        values(spark, "odradek", secured, wrong)
    assert "guess" not in str(caught.value)
