"""Faults of the schema registry: which requests they are for, and what is refused as none."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.faults.registry_fault import RegistryFault


def test_requests_are_chosen_by_method_and_path() -> None:
    fault = RegistryFault("post", "/subjects/orders", code=50001)
    assert not fault.meets("GET", "/subjects/orders-value/versions")
    assert not fault.meets("POST", "/subjects/other")
    assert fault.meets("POST", "/subjects/orders-value/versions")
    assert (fault.hits, fault.acts) == (1, True)
    assert not fault.matches(None, None)


def test_times_and_skip() -> None:
    fault = RegistryFault(times=1, code=503, skip=1)
    assert [fault.meets("GET", "/") for _ in range(3)] == [False, True, False]


def test_a_delay_serves_the_request() -> None:
    assert not RegistryFault(delay_ms=5).acts


def test_it_says_what_it_is() -> None:
    fault = RegistryFault("GET", "/schemas", 2, code=50001, delay_ms=5)
    assert repr(fault) == "RegistryFault(method='GET', path='/schemas', times=2, code=50001, delay_ms=5)"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({}, "has a code, a delay_ms, or both"),
        ({"code": 200}, "code=200"),
        ({"code": 60000}, "code=60000"),
        ({"code": 500, "method": "FETCH"}, "method='FETCH'"),
        ({"code": 500, "path": "subjects"}, "begins with a slash"),
        ({"code": 500, "times": 0}, "at least once"),
        ({"delay_ms": -1}, "delay_ms=-1"),
    ],
)
def test_what_is_no_fault(arguments: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        RegistryFault(**arguments)
