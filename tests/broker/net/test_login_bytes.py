"""What log-ins under way may hold in sum."""

from __future__ import annotations

from odradek.broker.net.login_bytes import LoginBytes


class Login:
    def __init__(self) -> None:
        self.reason = ""

    def cut(self, reason: str) -> None:
        self.reason = reason


def test_the_log_in_that_grew_least_recently_is_cut_for_the_others() -> None:
    room = LoginBytes(limit=100)
    logins = [Login() for _ in range(4)]
    for login in logins[:3]:
        room.hold(login, 30)
    room.hold(logins[0], 40)
    assert (room.sum, [login.reason for login in logins]) == (100, [""] * 4)
    room.hold(logins[3], 20)
    assert [bool(login.reason) for login in logins] == [False, True, False, False]
    assert room.sum == 90


def test_a_log_in_that_ends_gives_its_bytes_back() -> None:
    room = LoginBytes(limit=100)
    first, second = Login(), Login()
    room.hold(first, 90)
    room.release(first)
    room.release(first)
    room.hold(second, 90)
    assert (room.sum, first.reason, second.reason) == (90, "", "")


def test_one_log_in_alone_is_never_cut() -> None:
    room = LoginBytes(limit=100)
    only = Login()
    room.hold(only, 500)
    assert (room.sum, only.reason) == (500, "")
