"""The options of the data source: what they mean, and how a wrong one is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.client_security.options import SaslOptions, TlsOptions
from odradek.pipeline import source_options
from odradek.pipeline.cluster_client import EARLIEST, LATEST
from odradek.pipeline.source_options import OptionError, RetryOptions, SourceOptions, check_limit, limited, offset_for


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
def test_source_options_that_are_wrong_are_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        SourceOptions.parse(options)


def test_source_options_have_defaults() -> None:
    options = SourceOptions.parse({"path": "x"})
    assert (options.starting, options.ending) == ("earliest", "latest")
    assert (options.from_ms, options.until_ms, options.records_per_task) == (None, None, None)
    assert (options.read_committed, options.control) == (False, False)
    assert (options.fail_on_data_loss, options.push_filters) == (True, False)


def test_names_are_not_case_sensitive() -> None:
    options = SourceOptions.parse({"PATH": "x", "STARTINGoffsets": "Latest", "isolation": "read_committed"})
    assert (options.path, options.starting, options.read_committed) == ("x", "latest", True)


def test_source_options_name_positions_by_partition() -> None:
    options = SourceOptions.parse({"path": "x", "startingOffsets": '{"t": {"0": 23, "1": -2}}'})
    assert [offset_for(options.starting, "t", partition) for partition in (0, 1)] == [23, EARLIEST]
    assert offset_for(options.ending, "t", 0) == LATEST
    with pytest.raises(OptionError, match="leave out t-2"):
        offset_for(options.starting, "t", 2)


def test_parts_have_a_number_or_a_size() -> None:
    assert SourceOptions.parse({"path": "x", "bytesPerTask": "5"}).bytes_per_task == 5
    with pytest.raises(OptionError, match="give recordsPerTask or bytesPerTask, not both"):
        SourceOptions.parse({"path": "x", "bytesPerTask": "5", "recordsPerTask": "5"})


def test_source_options_choose_topics() -> None:
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


KEYS = [("t", 0), ("t", 1), ("u", 0)]
OFFSETS = st.fixed_dictionaries({key: st.integers(0, 1000) for key in KEYS})


@pytest.mark.parametrize("most", [10, 11])
def test_what_a_limit_allows_is_read_whole(most: int) -> None:
    assert limited({("t", 0): 5}, {("t", 0): 15}, most) == {("t", 0): 15}


def test_each_partition_gets_its_part() -> None:
    start = {("t", 0): 0, ("t", 1): 100, ("u", 0): 7}
    assert limited(start, {("t", 0): 90, ("t", 1): 110, ("u", 0): 7}, 10) == {("t", 0): 9, ("t", 1): 101, ("u", 0): 7}


@given(OFFSETS, OFFSETS, st.integers(1, 100))
def test_a_limit_is_used_up_and_never_passed(start: dict, behind: dict, most: int) -> None:  # type: ignore[type-arg]
    end = {key: start[key] + behind[key] for key in KEYS}
    found = limited(start, end, most)
    assert all(start[key] <= found[key] <= end[key] for key in KEYS)
    assert sum(found[key] - start[key] for key in KEYS) == min(most, sum(behind.values()))


def test_a_limit_that_spark_cannot_keep_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_options, "LIMITS_KNOWN", False)
    check_limit(None)
    with pytest.raises(OptionError, match=r"maxOffsetsPerTrigger: needs Spark 4\.2"):
        check_limit(5)
    monkeypatch.setattr(source_options, "LIMITS_KNOWN", True)
    check_limit(5)


def test_each_option_goes_to_the_side_that_knows_it() -> None:
    log_in = {"kafka.security.protocol": "SSL", "kafka.ssl.ca.location": "/ca.pem"}
    given = {"failondataloss": "false", "maxOffsetsPerTrigger": "5", "transactionalId": "mine", **log_in}
    options = RetryOptions.parse("h:1", given)
    cluster = {"kafka.bootstrap.servers": "h:1", **log_in}
    assert options.source == {**cluster, "failOnDataLoss": "false", "maxOffsetsPerTrigger": "5"}
    assert options.sink == {**cluster, "transactionalId": "mine"}
    assert (options.transactional_id, options.max_offsets) == ("mine", 5)
    assert options.security == {"security.protocol": "SSL", "ssl.ca.location": "/ca.pem"}


def test_nothing_but_the_cluster_is_needed() -> None:
    options = RetryOptions.parse("h:1", {})
    assert options.source == options.sink == {"kafka.bootstrap.servers": "h:1"}
    assert (options.transactional_id, options.max_offsets) == (None, None)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"kafka.fetch.max.wait.ms": "10"}, r"unknown option kafka\.fetch\.max\.wait\.ms; known: failOnDataLoss, max"),
        ({"subscribe": "t", "isolation": "read_uncommitted"}, "unknown option isolation, subscribe"),
        ({"kafka.sasl.pasword": "x"}, r"unknown security option sasl\.pasword"),
        ({"failOnDataLoss": "maybe"}, "failOnDataLoss: true or false"),
        ({"maxOffsetsPerTrigger": "0"}, "maxOffsetsPerTrigger: a positive number"),
        ({"transactionTimeout": "soon"}, "transactionTimeout: a positive number, not 'soon'"),
        ({"transactionalId": ""}, "transactionalId: the beginning"),
    ],
)
def test_a_wrong_option_is_refused(given: dict[str, str], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        RetryOptions.parse("h:1", given)
