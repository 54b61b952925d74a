from __future__ import annotations

import pytest

from odradek.broker.runtime.loading import Loading
from odradek.broker.runtime.records import NewRecord
from tests.fakes.journal import FakeJournal
from tests.fakes.shard_stage import Scribe


@pytest.fixture
def journal() -> FakeJournal:
    journal = FakeJournal()
    journal.append([NewRecord(b"a", b"1")], 0, None)
    return journal


def test_a_load_ends_with_the_log(journal: FakeJournal) -> None:
    loading, machine = Loading(journal), Scribe([])
    assert not loading.can_go_on
    loading.begin(machine)
    while not loading.replay_slice():
        assert loading.can_go_on
    assert machine.values == {b"a": b"1"}
    assert (loading.can_go_on, loading.count) == (False, 1)


def test_a_held_load_waits(journal: FakeJournal) -> None:
    loading = Loading(journal)
    loading.held = True
    loading.begin(Scribe([]))
    assert not loading.can_go_on
    loading.held = False
    assert loading.can_go_on
    loading.stop()
    assert not loading.can_go_on
    assert loading.count == 0


def test_another_leader_outdates_it(journal: FakeJournal) -> None:
    loading = Loading(journal)
    assert not loading.is_outdated
    journal.leader_epoch += 1
    assert loading.is_outdated
    loading.stop()
    assert loading.is_outdated
    loading.stop(resigned=True)
    assert not loading.is_outdated
    journal.leader_epoch += 1
    loading.begin(Scribe([]))
    assert not loading.is_outdated
