"""Handlers are found through an index, and imported when they are first asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

from odradek.broker.api.served import ALL, SERVED
from odradek.broker.releases.release import release_of
from odradek.broker.requests.access import OPEN
from odradek.broker.requests.handlers import HandlerRegistry, handles
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from tests.broker.conftest import Install

HEARTBEAT = 12
PACKAGE = "odradek.broker.api"


def test_a_handler_is_imported_when_it_is_asked_for_and_not_before() -> None:
    program = (
        "import sys\n"
        "from odradek.broker.api.served import SERVED\n"
        "SERVED.advertised()\n"
        "assert 'odradek.broker.api.groups' not in sys.modules\n"
        "print(SERVED.find(12).function.__module__)\n"
        "assert 'odradek.broker.api.fetch' not in sys.modules\n"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == "odradek.broker.api.groups\n"


def test_what_the_index_does_not_name_is_not_served() -> None:
    SERVED.all()
    registry = HandlerRegistry(PACKAGE, {HEARTBEAT: ("groups", 0, 4, True)})
    assert registry.find(11) is None
    assert list(registry.all()) == [HEARTBEAT]


def test_what_is_not_advertised_is_served_all_the_same() -> None:
    registry = HandlerRegistry(PACKAGE, {HEARTBEAT: ("groups", 1, 4, False), 0: ("produce", 3, 13, True)})
    assert registry.advertised() == {0: (3, 13)}
    assert registry.find(HEARTBEAT) is not None


def test_versions_default_to_those_of_kafka(install: Install) -> None:
    install(HeartbeatRequest, lambda ctx, request: HeartbeatResponse())
    handler = SERVED.find(HEARTBEAT)
    assert handler is not None
    assert (handler.min_version, handler.max_version) == (0, 4)


def test_versions_are_cut_from_below() -> None:
    registry = HandlerRegistry(PACKAGE, {HEARTBEAT: ("groups", 0, 4, True), 0: ("produce", 0, 13, True)})
    assert registry.down_to({0: 3, 5: 1}).advertised() == {0: (3, 13), HEARTBEAT: (0, 4)}


def test_an_older_release_has_functions_of_its_own() -> None:
    produce, heartbeat = ALL.find(0), ALL.find(HEARTBEAT)
    assert produce is not None
    assert heartbeat is not None
    release = release_of("3.9")
    assert heartbeat.as_older(heartbeat.function, 0, release) is heartbeat.function
    assert produce.as_older(produce.function, 3, release) is produce.function
    assert produce.within(0, 11).as_older(produce.function, 2, release) is not produce.function


def test_an_api_has_one_handler(install: Install) -> None:
    install(HeartbeatRequest, lambda ctx, request: HeartbeatResponse())
    with pytest.raises(RuntimeError, match="two handlers for Heartbeat"):

        @handles(HeartbeatRequest, access=OPEN)
        def another(ctx: object, request: HeartbeatRequest) -> HeartbeatResponse:
            return HeartbeatResponse()
