"""The options of a retry job: which side gets them, and how a wrong one is refused."""

from __future__ import annotations

import pytest

from odradek.pipeline.jobs.retry_options import RetryOptions
from odradek.pipeline.source_options import OptionError


def test_each_option_goes_to_the_side_that_knows_it() -> None:
    log_in = {"kafka.security.protocol": "SSL", "kafka.ssl.ca.location": "/ca.pem"}
    given = {"failondataloss": "false", "maxOffsetsPerTrigger": "5", "transactionalId": "mine", **log_in}
    options = RetryOptions.parse("h:1", given)
    cluster = {"kafka.bootstrap.servers": "h:1", **log_in}
    assert options.source == {**cluster, "failOnDataLoss": "false", "maxOffsetsPerTrigger": "5"}
    assert options.sink == {**cluster, "transactionalId": "mine"}
    assert (options.transactional_id, options.max_offsets) == ("mine", 5)
    assert options.security.protocol == "SSL"


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
