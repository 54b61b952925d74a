"""The aborted list against a plain filter over all aborted transactions."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from odradek.protocol.record_batch import iter_batches
from odradek.storage.txn_index import aborted_between
from tests.fakes.examples import examples
from tests.storage.logs import end, make_log, put

steps = st.lists(st.tuples(st.integers(1, 4), st.sampled_from(["data", "commit", "abort", "plain"])), max_size=60)


@given(steps, st.data())
@settings(max_examples=examples(80), deadline=None)
def test_a_reader_learns_of_all_that_concerns_it(script: list[tuple[int, str]], data: st.DataObject) -> None:
    log = make_log(segment_bytes=400)
    sequences = dict.fromkeys(range(1, 5), 0)
    first: dict[int, int] = {}
    aborted: list[tuple[int, int, int]] = []
    for producer, step in script:
        if step == "plain":
            put(log)
        elif step == "data":
            first.setdefault(producer, log.log_end_offset)
            put(log, producer=(producer, 0, sequences[producer]), transactional=True)
            sequences[producer] += 1
        else:
            begun = first.pop(producer, None)
            marker = end(log, producer, 0, commit=step == "commit").base_offset
            if begun is not None and step == "abort":
                aborted.append((producer, begun, marker))
    low = data.draw(st.integers(0, log.log_end_offset))
    high = data.draw(st.integers(low, log.log_end_offset))
    must = {(p, f) for p, f, marker in aborted if f < high and marker >= low}
    if high > log.last_stable_offset:
        return  # no reader of committed data asks beyond the stable offset
    assert set(log.aborted_transactions(low, high)) == must
    assert set(aborted_between(log.segments, 0, low, high)) == must
    read = log.read(low, max_bytes=150, up_to_offset=high)
    read_to = max((b.next_offset for b in iter_batches(read.parts)), default=low)
    concerned = {(p, f) for p, f, marker in aborted if f < read_to and marker >= low}
    assert concerned <= set(log.aborted_in_read(low, read.size_bytes))
