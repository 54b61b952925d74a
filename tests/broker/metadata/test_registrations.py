"""What registrations say of themselves."""

from __future__ import annotations

import pytest

from odradek.broker.metadata.registrations import BrokerRegistration, PartitionRegistration


def test_a_partition_under_reassignment() -> None:
    at_rest = PartitionRegistration((1, 2), (1, 2), 1, 0, 0, (bytes(16), bytes(16)))
    assert not at_rest.is_reassigned
    assert at_rest._replace(adding=(3,)).is_reassigned
    assert at_rest._replace(removing=(2,)).is_reassigned


@pytest.mark.parametrize(
    ("fenced", "stopping", "active"), [(False, False, True), (True, False, False), (False, True, False)]
)
def test_a_broker_leads_while_it_is_neither_fenced_nor_stopping(fenced: bool, stopping: bool, active: bool) -> None:
    assert BrokerRegistration(1, 0, bytes(16), (), {}, None, fenced, stopping, ()).is_active is active
