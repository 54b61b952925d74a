"""What limits log-ins: failed ones are answered late, and all of them hold so many bytes."""

from __future__ import annotations

import logging

import pytest
import trio
import trio.testing

from odradek.broker.clock import BrokerClock
from odradek.broker.net.login_limits import FailedLogins, login_budget
from odradek.broker.requests.context import ConnectionInfo
from odradek.broker.security.denials import Denials


def test_it_is_logged_in_kafkas_words_and_kept_among_the_denials(caplog: pytest.LogCaptureFixture) -> None:
    denials = Denials()
    client = ConnectionInfo(id="a:1-b:2-3", peer_host="10.0.0.7", listener="SASL")
    with caplog.at_level(logging.INFO, "odradek.broker"):
        FailedLogins(BrokerClock(start_ms=5000), lambda: 100, denials).tell(
            client, "authentication", "no", api="SaslAuthenticate", more=": he is a stranger", claimed="alice"
        )
    assert [record.getMessage() for record in caplog.records] == [
        "Failed authentication with /10.0.0.7 (channelId=a:1-b:2-3) (no)"
    ]
    (denial,) = denials.entries
    assert (denial.principal, denial.host, denial.operation, denial.listener, denial.api, denial.reason) == (
        "User:alice",
        "10.0.0.7",
        "LOGIN",
        "SASL",
        "SaslAuthenticate",
        "no: he is a stranger",
    )


def test_the_delay_is_on_the_brokers_clock() -> None:
    trio.run(_delay)


async def _delay() -> None:
    clock = BrokerClock()
    clock.attach()
    clock.freeze()
    over = trio.Event()

    async def wait() -> None:
        await FailedLogins(clock, lambda: 100, Denials()).delay()
        over.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await trio.testing.wait_all_tasks_blocked()
        clock.advance(0.09)
        await trio.testing.wait_all_tasks_blocked()
        assert not over.is_set()
        clock.advance(0.02)
        await over.wait()


class Login:
    def __init__(self) -> None:
        self.reason = ""

    def cut(self, reason: str) -> None:
        self.reason = reason


def test_the_log_in_that_grew_least_recently_is_cut_for_the_others() -> None:
    room = login_budget(limit=100)
    first, second = Login(), Login()
    room.hold(first, 60)
    room.hold(second, 60)
    assert (first.reason, second.reason) == ("the log-ins under way hold more than 100 bytes", "")
