"""The options of the data source: what they mean, and how a wrong one is refused."""

from __future__ import annotations

import pytest

from odradek.client_security.options import SaslOptions, TlsOptions
from odradek.pipeline.cluster_client import EARLIEST, LATEST
from odradek.pipeline.source_options import OptionError, SourceOptions, offset_for


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "one of the two"),
        ({"kafka.bootstrap.servers": "127.0.0.1:1"}, "needs subscribe"),
        ({"path": "x", "startingOffset": "3"}, "unknown option startingoffset"),
        ({"path": "x", "kafka.acks": "3"}, "unknown option kafka.acks"),
        ({"path": "x", "kafka.sasl.pasword": "3"}, "unknown security option sasl.pasword"),
        ({"path": "x", "kafka.security.protocol": "TLS"}, "security.protocol: 'TLS' is not one of"),
        ({"path": "x", "startingOffsets": "soon"}, "earliest, latest or"),
        ({"path": "x", "isolation": "serializable"}, "read_committed or read_uncommitted"),
        ({"path": "x", "recordsPerTask": "0"}, "recordsPerTask: a positive number, not '0'"),
        ({"path": "x", "bytesPerTask": "1k"}, "bytesPerTask: a positive number, not '1k'"),
        ({"path": "x", "includeControl": "maybe"}, "true or false"),
        ({"path": "x", "endingTimestamp": "noon"}, "milliseconds since 1970"),
        ({"path": "x", "subscribePattern": "("}, "subscribePattern"),
        ({"path": "x", "subscribe": "a", "subscribePattern": "b"}, "not both"),
    ],
)
def test_options_are_checked(options: dict[str, str], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        SourceOptions.parse(options)


def test_defaults() -> None:
    options = SourceOptions.parse({"path": "x"})
    assert (options.starting, options.ending) == ("earliest", "latest")
    assert (options.from_ms, options.until_ms, options.records_per_task) == (None, None, None)
    assert (options.read_committed, options.control) == (False, False)
    assert (options.fail_on_data_loss, options.push_filters) == (True, False)


def test_names_are_not_case_sensitive() -> None:
    options = SourceOptions.parse({"PATH": "x", "STARTINGoffsets": "Latest", "isolation": "read_committed"})
    assert (options.path, options.starting, options.read_committed) == ("x", "latest", True)


def test_positions_by_partition() -> None:
    options = SourceOptions.parse({"path": "x", "startingOffsets": '{"t": {"0": 23, "1": -2}}'})
    assert [offset_for(options.starting, "t", partition) for partition in (0, 1)] == [23, EARLIEST]
    assert offset_for(options.ending, "t", 0) == LATEST
    with pytest.raises(OptionError, match="leave out t-2"):
        offset_for(options.starting, "t", 2)


def test_parts_have_a_number_or_a_size() -> None:
    assert SourceOptions.parse({"path": "x", "bytesPerTask": "5"}).bytes_per_task == 5
    with pytest.raises(OptionError, match="give recordsPerTask or bytesPerTask, not both"):
        SourceOptions.parse({"path": "x", "bytesPerTask": "5", "recordsPerTask": "5"})


def test_topics_are_chosen() -> None:
    there = ["b", "a", "orders-2", "orders"]
    assert SourceOptions.parse({"path": "x"}).choose(there) == ["a", "b", "orders", "orders-2"]
    assert SourceOptions.parse({"path": "x", "subscribe": "b, a,b"}).choose(there) == ["a", "b"]
    assert SourceOptions.parse({"path": "x", "subscribePattern": "orders.*"}).choose(there) == ["orders", "orders-2"]
    with pytest.raises(OptionError, match="no topic c, d"):
        SourceOptions.parse({"path": "x", "subscribe": "c,a,d"}).choose(there)


def test_security_options_are_those_of_sparks_connector() -> None:
    options = SourceOptions.parse(
        {
            "kafka.bootstrap.servers": "127.0.0.1:1",
            "subscribe": "a",
            "kafka.security.protocol": "SASL_SSL",
            "kafka.sasl.mechanism": "PLAIN",
            "kafka.sasl.jaas.config": 'x.PlainLoginModule required username="alice" password="hush";',
            "kafka.ssl.truststore.type": "PEM",
            "kafka.ssl.truststore.location": "/ca.pem",
        }
    )
    assert options.security.tls == TlsOptions(ca_location="/ca.pem")
    assert options.security.sasl == SaslOptions("PLAIN", {"username": "alice", "password": "hush"})
    assert "hush" not in repr(options)
