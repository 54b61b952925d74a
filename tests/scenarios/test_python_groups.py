"""Consumer groups of the Python client libraries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from confluent_kafka.admin import AdminClient, NewPartitions

from tests.scenarios.fixtures import MakeTopic, create_topic
from tests.scenarios.group_members import LIBRARIES, Joining, Member, Place, Victim
from tests.scenarios.python_clients import KITS, Out, Settings
from tests.scenarios.target import unique, wait_until

EACH_ASSIGNOR = [(library, assignor) for library, kind in LIBRARIES.items() for assignor in kind.assignors]


class Group:
    """A group of its own for a test; members that still run at its end leave."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        self.name = unique("group")
        self.members: list[Member] = []

    def join(self, library: str, topic: str = "", **more: object) -> Member:
        topics = (topic,) if topic else ()
        member = Member(library, Joining(self.bootstrap, self.name, topics, client_id=f"m{len(self.members)}", **more))  # type: ignore[arg-type]
        self.members.append(member)
        return member


@pytest.fixture
def group(bootstrap: str) -> Iterator[Group]:
    made = Group(bootstrap)
    yield made
    for member in made.members:
        member.leave()


@pytest.fixture(params=list(LIBRARIES))
def library(request: pytest.FixtureRequest) -> str:
    chosen: str = request.param
    return chosen


def _all_of(topic: str, partitions: int) -> set[Place]:
    return {(topic, partition) for partition in range(partitions)}


def _owns(member: Member, places: set[Place]) -> None:
    wait_until(f"{places}", lambda: _check(member) and member.owned == places)


def _check(member: Member) -> bool:
    if member.failure is not None:
        raise member.failure
    return True


def _balanced(members: Sequence[Member], places: set[Place]) -> None:
    """Wait until each place has one owner and the members' shares differ by one at most."""

    def shared() -> bool:
        owned = [member.owned for member in members if _check(member)]
        sizes = [len(each) for each in owned]
        return sum(sizes) == len(places) and set().union(*owned) == places and max(sizes) - min(sizes) <= 1

    wait_until(f"{len(places)} partitions shared by {len(members)}", shared)


@pytest.mark.parametrize(("library", "assignor"), EACH_ASSIGNOR, indirect=["library"])
def test_members_join_and_leave(library: str, assignor: str, group: Group, make_topic: MakeTopic) -> None:
    topic = make_topic(partitions=6)
    everything = _all_of(topic, 6)
    members = [group.join(library, topic, assignor=assignor)]
    _owns(members[0], everything)
    for _ in range(2):
        members.append(group.join(library, topic, assignor=assignor))
        _balanced(members, everything)
    members.pop(1).leave()
    _balanced(members, everything)
    members.pop(0).leave()
    _owns(members[0], everything)


def test_a_killed_member_is_dropped(library: str, group: Group, make_topic: MakeTopic) -> None:
    topic = make_topic(partitions=4)
    survivor = group.join(library, topic)
    _owns(survivor, _all_of(topic, 4))
    victim = Victim(library, survivor.joining)
    try:
        wait_until("half is given up", lambda: len(survivor.owned) == 2)
    finally:
        victim.kill()
    _owns(survivor, _all_of(topic, 4))


def test_a_stuck_member_loses_its_partitions(library: str, group: Group, make_topic: MakeTopic) -> None:
    topic = make_topic(partitions=2)
    first = group.join(library, topic)
    _owns(first, _all_of(topic, 2))
    stuck = group.join(library, topic, max_poll_ms=3000, session_ms=3000)
    _balanced([first, stuck], _all_of(topic, 2))
    stuck.frozen.set()
    _owns(first, _all_of(topic, 2))
    stuck.frozen.clear()
    _balanced([first, stuck], _all_of(topic, 2))


def test_a_static_member_comes_back_to_its_partitions(library: str, group: Group, make_topic: MakeTopic) -> None:
    topic = make_topic(partitions=2)
    victim = Victim(library, Joining(group.bootstrap, group.name, (topic,), instance="i1"))
    victim.kill()
    again = group.join(library, topic, instance="i1", session_ms=30_000)
    _owns(again, _all_of(topic, 2))
    admin = AdminClient({"bootstrap.servers": group.bootstrap})
    (member,) = admin.describe_consumer_groups([group.name])[group.name].result(60).members
    assert member.group_instance_id == "i1"


@pytest.mark.round
def test_committed_offsets_are_where_the_next_member_begins(library: str, group: Group, make_topic: MakeTopic) -> None:
    topic = make_topic()
    KITS[0].produce(group.bootstrap, topic, [Out(b"a"), Out(b"b"), Out(b"c")], Settings())
    first = group.join(library, topic, session_ms=30_000)
    wait_until("all read", lambda: _check(first) and len(first.values) == 3)
    assert first.committed((topic, 0)) is None
    first.commit({(topic, 0): (1, "")})
    assert first.committed((topic, 0)) == (1, "")
    first.commit({(topic, 0): (2, "why not")})
    assert first.committed((topic, 0)) == (2, "why not")
    first.leave()
    second = group.join(library, topic, session_ms=30_000)
    wait_until("goes on at the commit", lambda: _check(second) and second.values == [b"c"])


def test_a_commit_after_losing_the_partition_is_refused(library: str, group: Group, make_topic: MakeTopic) -> None:
    topic = make_topic()
    stuck = group.join(library, topic, max_poll_ms=3000, session_ms=3000)
    _owns(stuck, _all_of(topic, 1))
    stuck.frozen.set()
    other = group.join(library, topic)
    _owns(other, _all_of(topic, 1))
    with pytest.raises(Exception, match=r"(?i)generation|rebalance|member|commit"):
        stuck.commit({(topic, 0): (7, "late")})
    assert other.committed((topic, 0)) is None


def test_a_pattern_finds_new_topics_and_partitions(library: str, group: Group, make_topic: MakeTopic) -> None:
    prefix = unique("pattern")
    admin = AdminClient({"bootstrap.servers": group.bootstrap})
    create_topic(admin, f"{prefix}.a", 1)
    member = group.join(library, pattern=f"{prefix}.*")
    _owns(member, {(f"{prefix}.a", 0)})
    create_topic(admin, f"{prefix}.b", 1)
    _owns(member, {(f"{prefix}.a", 0), (f"{prefix}.b", 0)})
    admin.create_partitions([NewPartitions(f"{prefix}.b", 2)])[f"{prefix}.b"].result(60)
    _owns(member, {(f"{prefix}.a", 0), (f"{prefix}.b", 0), (f"{prefix}.b", 1)})


@pytest.mark.round
def test_members_of_all_libraries_share_a_group(group: Group, make_topic: MakeTopic) -> None:
    topic = make_topic(partitions=6)
    members = [group.join(library, topic, assignor="range", session_ms=30_000) for library in LIBRARIES]
    _balanced(members, _all_of(topic, 6))
    KITS[0].produce(group.bootstrap, topic, [Out(b"%d" % n, partition=n % 6) for n in range(60)], Settings())
    wait_until(
        "all read once", lambda: sorted(v for m in members for v in m.values) == sorted(b"%d" % n for n in range(60))
    )
