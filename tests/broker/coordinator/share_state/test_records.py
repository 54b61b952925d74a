"""Records of the share coordinator: what is written is read back, and is what the generated classes say."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.share_state.records import (
    SNAPSHOT,
    UPDATE,
    ShareDelta,
    ShareState,
    decode_key,
    decode_snapshot,
    decode_update,
    encode_key,
    encode_snapshot,
    encode_update,
)
from odradek.broker.partitions.share.states import ShareKey, StateBatch
from odradek.protocol.errors import ProtocolError
from odradek.protocol.generated.stored.share_snapshot import ShareSnapshotKey
from odradek.protocol.generated.stored.share_update import ShareUpdateKey
from odradek.protocol.stored import decode_share_record

KEY = ShareKey("grüppe", bytes(range(16)), 7)
STATE = ShareState(3, 2, 1, 10, 4, (StateBatch(10, 12, 0, 1), StateBatch(13, 13, 4, 5)), 1_000, 2_000)
DELTA = ShareDelta(3, 1, -1, 2, (StateBatch(10, 12, 2, 1),))


def test_keys() -> None:
    for kind, expected in ((SNAPSHOT, ShareSnapshotKey), (UPDATE, ShareUpdateKey)):
        key = encode_key(kind, KEY)
        assert decode_key(key) == KEY
        about, _ = decode_share_record(key, None)
        assert isinstance(about, expected)
        assert (about.group_id, about.topic_id, about.partition) == KEY


def test_values() -> None:
    assert decode_snapshot(encode_snapshot(STATE)) == STATE
    assert decode_update(encode_update(DELTA)) == DELTA


def test_other_versions_are_refused() -> None:
    with pytest.raises(ProtocolError, match="not version 0"):
        decode_snapshot(b"\0\7" + encode_snapshot(STATE)[2:])
