"""The table of operations."""

from __future__ import annotations

import inspect
import json

import pytest

import odradek
from odradek.broker.facade.generated.blocking.broker import BlockingBroker
from odradek.broker.facade.remote.json_values import encoded
from odradek.broker.facade.remote.operations import NOT_SERVED, OPERATED, operation_of, operations
from odradek.control.openapi import document

OWNERS: tuple[type, ...] = (BlockingBroker, odradek.Group, odradek.BrokerClock, odradek.Transcript, *OPERATED)


@pytest.mark.parametrize("owner", OWNERS)
def test_each_public_member_is_served_or_listed_with_the_reason(owner: type) -> None:
    """A member that appears here can be called over HTTP at once; one that cannot be needs a line in `NOT_SERVED`."""
    served = {each.member for each in operations() if each.owner is owner}
    for name, member in inspect.getmembers_static(owner):
        if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, property)):
            assert (name in served) != (f"{owner.__name__}.{name}" in NOT_SERVED), name


def test_the_list_of_what_is_not_served_is_current() -> None:
    names = {owner.__name__: owner for owner in OWNERS}
    for entry in NOT_SERVED:
        owner, _, member = entry.partition(".")
        assert hasattr(names[owner], member), entry


def test_paths_are_unique_and_defaults_have_json() -> None:
    seen = [(each.method, each.path) for each in operations()]
    assert len(set(seen)) == len(seen)
    for operation in operations():
        json.dumps([encoded(each.default) for each in operation.parameters if each.default is not ...])


def test_looks_are_gets_and_verbs_are_posts() -> None:
    assert operation_of(BlockingBroker, "topics").method == "GET"
    assert operation_of(BlockingBroker, "records").method == "GET"
    kill = operation_of(BlockingBroker, "kill_node")
    assert (kill.method, kill.path, kill.name) == ("POST", "/v1/kill-node", "kill-node")
    assert operation_of(odradek.BrokerClock, "advance").name == "clock advance"
    assert [each.name for each in kill.parameters] == ["node_id"]


def test_remote_operations_leave_out_arguments_that_are_functions() -> None:
    names = [each.name for each in operation_of(BlockingBroker, "produce").parameters]
    assert "value" in names
    assert "value_serializer" not in names


def test_all_arguments_and_results_have_a_schema() -> None:
    """A type that cannot be JSON fails here: make it a frozen dataclass or a handle, or list it in `NOT_SERVED`."""
    assert document()["paths"].keys() - {each.path for each in operations()} == {
        "/v1/requests/stream",
        "/v1/records/stream",
    }
