"""Producer ids are unique in the cluster and grow on every node."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.controller.producer_ids import MAX_PRODUCER_ID, ProducerIdAllocator
from odradek.protocol.errors import ErrorCode, KafkaError


def test_ids_of_one_node_count_up_from_zero() -> None:
    ids = ProducerIdAllocator()
    assert [ids.allocate(1) for _ in range(3)] == [0, 1, 2]


def test_each_node_works_through_blocks_of_its_own() -> None:
    ids = ProducerIdAllocator()
    assert ids.allocate(1) == 0
    assert ids.allocate(2) == 1000
    assert ids.allocate(1) == 1
    for _ in range(998):
        ids.allocate(1)
    assert ids.allocate(1) == 2000


@given(st.lists(st.one_of(st.integers(1, 3), st.integers(10, 5000).map(lambda n: -n)), max_size=60))
def test_no_id_comes_twice_and_none_that_was_skipped(steps: list[int]) -> None:
    ids = ProducerIdAllocator()
    seen: set[int] = set()
    skipped = -1
    for step in steps:
        if step < 0:
            ids.skip_past(-step)
            skipped = max(skipped, -step)
        else:
            allocated = ids.allocate(step)
            assert allocated not in seen
            assert allocated > skipped
            seen.add(allocated)


def test_running_out_is_an_error() -> None:
    ids = ProducerIdAllocator(next_block=MAX_PRODUCER_ID - 10)
    with pytest.raises(KafkaError) as caught:
        ids.allocate(1)
    assert caught.value.code is ErrorCode.UNKNOWN_SERVER_ERROR
