"""When records arrive over a slow link."""

from __future__ import annotations

from odradek.broker.partitions.slow_link import Sent, SlowLink, Slowness


def test_records_arrive_so_much_later() -> None:
    link = SlowLink(Slowness(100), Sent(5, 0))
    link.send(Sent(7, 0), 1000, 0)
    link.send(Sent(8, 0), 1000, 50)
    assert (link.arrived(99).end, link.next_ms) == (5, 100)
    assert (link.arrived(100).end, link.next_ms) == (7, 150)
    assert (link.arrived(150).end, link.next_ms) == (8, None)


def test_one_after_the_other_through_a_thin_line() -> None:
    link = SlowLink(Slowness(10, bytes_per_second=1000), Sent(0, 0))
    link.send(Sent(1, 0), 500, 0)
    link.send(Sent(2, 0), 500, 0)
    assert [link.arrived(at).end for at in (509, 510, 1009, 1010)] == [0, 1, 1, 2]
    link.send(Sent(3, 0), 100, 5000)
    assert link.arrived(5110).end == 3


def test_what_was_on_its_way_to_another_history_is_lost() -> None:
    link = SlowLink(Slowness(10), Sent(5, 0))
    link.send(Sent(9, 0), 0, 0)
    link.begin_anew(Sent(3, 0))
    assert (link.arrived(100), link.sent) == (Sent(3, 0), Sent(3, 0))
