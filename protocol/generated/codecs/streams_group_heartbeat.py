# mypy: disable-error-code="union-attr,arg-type"
"""Codecs of `messages.streams_group_heartbeat`. Generated from the constructs: do not edit.

A value that is null where the version has no null fails by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct, pack, unpack_from
from struct import error as struct_error
from typing import Any, Final

from odradek.protocol.codec_parts import (
    BYTE,
    check_count,
    explained,
    int8_at,
    int16_at,
    int32_at,
    int64_at,
    long_length,
    long_string,
    refuse,
    text_at,
    uint16_at,
)
from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.messages.streams_group_heartbeat import (
    CopartitionGroup,
    Endpoint,
    KeyValue,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    Subtopology,
    TaskIds,
    TaskOffset,
    TopicInfo,
    Topology,
)
from odradek.protocol.message import Buffer
from odradek.protocol.message_codec import decoded_again
from odradek.protocol.native import i64
from odradek.protocol.varint import ANY_NUMBER, encode_tagged_section, encode_uvarint, read_unknown_fields

pack_B_l: Final = [Struct(f">B{count}l").pack for count in range(9)]
pack_b: Final = Struct(">b").pack
pack_bB: Final = Struct(">bB").pack
pack_l: Final = Struct(">l").pack
pack_lB: Final = Struct(">lB").pack
pack_lh: Final = Struct(">lh").pack
pack_lhB: Final = Struct(">lhB").pack
pack_llll: Final = Struct(">llll").pack
pack_llllB: Final = Struct(">llllB").pack
pack_lllq: Final = Struct(">lllq").pack
pack_lllqB: Final = Struct(">lllqB").pack
pack_ol: Final = Struct(">?l").pack
pack_olB: Final = Struct(">?lB").pack
pack_u: Final = Struct(">H").pack
pack_uB: Final = Struct(">HB").pack
unpack_from__h: Final = [Struct(f">{count}h").unpack_from for count in range(9)]
unpack_from__l: Final = [Struct(f">{count}l").unpack_from for count in range(9)]


def decode_streams_group_heartbeat_request_0(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[StreamsGroupHeartbeatRequest, int]:
    try:
        buf = data if isinstance(data, bytes) else bytes(data)
        pos: i64 = offset
        end: i64 = len(buf)
        left: i64 = most
        n2: i64 = buf[pos]
        pos += 1
        if n2 > 127:
            n2, pos = long_string(buf, pos - 1)
        if n2 == 0:
            raise IndexError
        e3: i64 = pos + n2 - 1
        o1_group_id = text_at(buf, pos, e3)
        pos = e3
        n4: i64 = buf[pos]
        pos += 1
        if n4 > 127:
            n4, pos = long_string(buf, pos - 1)
        if n4 == 0:
            raise IndexError
        e5: i64 = pos + n4 - 1
        o1_member_id = text_at(buf, pos, e5)
        pos = e5
        o1_member_epoch = int32_at(buf, pos)
        o1_endpoint_information_epoch = int32_at(buf, pos + 4)
        n6: i64 = buf[pos + 8]
        pos += 9
        if n6 > 127:
            n6, pos = long_string(buf, pos - 1)
        if n6 == 0:
            o1_instance_id = None
        else:
            e7: i64 = pos + n6 - 1
            o1_instance_id = text_at(buf, pos, e7)
            pos = e7
        n8: i64 = buf[pos]
        pos += 1
        if n8 > 127:
            n8, pos = long_string(buf, pos - 1)
        if n8 == 0:
            o1_rack_id = None
        else:
            e9: i64 = pos + n8 - 1
            o1_rack_id = text_at(buf, pos, e9)
            pos = e9
        o1_rebalance_timeout_ms = int32_at(buf, pos)
        n10 = int8_at(buf, pos + 4)
        pos += 5
        if n10 < 0:
            o1_topology = None
        else:
            o11_epoch = int32_at(buf, pos)
            n12: i64 = buf[pos + 4]
            pos += 5
            if n12 > 127:
                n12, pos = long_length(buf, pos - 1)
            if n12 == 0:
                raise IndexError
            n12 -= 1
            if n12 * 8 > end - pos:
                raise IndexError
            left -= n12
            check_count(n12, left)
            l13: list[Any] = []
            o11_subtopologies = l13
            for _ in range(n12):
                n17: i64 = buf[pos]
                pos += 1
                if n17 > 127:
                    n17, pos = long_string(buf, pos - 1)
                if n17 == 0:
                    raise IndexError
                e18: i64 = pos + n17 - 1
                o16_subtopology_id = text_at(buf, pos, e18)
                pos = e18
                n19: i64 = buf[pos]
                pos += 1
                if n19 > 127:
                    n19, pos = long_length(buf, pos - 1)
                if n19 == 0:
                    raise IndexError
                n19 -= 1
                if n19 * 1 > end - pos:
                    raise IndexError
                left -= n19
                check_count(n19, left)
                l20: list[Any] = []
                o16_source_topics = l20
                for _ in range(n19):
                    n23: i64 = buf[pos]
                    pos += 1
                    if n23 > 127:
                        n23, pos = long_string(buf, pos - 1)
                    if n23 == 0:
                        raise IndexError
                    e24: i64 = pos + n23 - 1
                    v22 = text_at(buf, pos, e24)
                    pos = e24
                    l20.append(v22)
                n25: i64 = buf[pos]
                pos += 1
                if n25 > 127:
                    n25, pos = long_length(buf, pos - 1)
                if n25 == 0:
                    raise IndexError
                n25 -= 1
                if n25 * 1 > end - pos:
                    raise IndexError
                left -= n25
                check_count(n25, left)
                l26: list[Any] = []
                o16_source_topic_regex = l26
                for _ in range(n25):
                    n29: i64 = buf[pos]
                    pos += 1
                    if n29 > 127:
                        n29, pos = long_string(buf, pos - 1)
                    if n29 == 0:
                        raise IndexError
                    e30: i64 = pos + n29 - 1
                    v28 = text_at(buf, pos, e30)
                    pos = e30
                    l26.append(v28)
                n31: i64 = buf[pos]
                pos += 1
                if n31 > 127:
                    n31, pos = long_length(buf, pos - 1)
                if n31 == 0:
                    raise IndexError
                n31 -= 1
                if n31 * 9 > end - pos:
                    raise IndexError
                left -= n31
                check_count(n31, left)
                l32: list[Any] = []
                o16_state_changelog_topics = l32
                for _ in range(n31):
                    n36: i64 = buf[pos]
                    pos += 1
                    if n36 > 127:
                        n36, pos = long_string(buf, pos - 1)
                    if n36 == 0:
                        raise IndexError
                    e37: i64 = pos + n36 - 1
                    o35_name = text_at(buf, pos, e37)
                    pos = e37
                    o35_partitions = int32_at(buf, pos)
                    o35_replication_factor = int16_at(buf, pos + 4)
                    n38: i64 = buf[pos + 6]
                    pos += 7
                    if n38 > 127:
                        n38, pos = long_length(buf, pos - 1)
                    if n38 == 0:
                        raise IndexError
                    n38 -= 1
                    if n38 * 3 > end - pos:
                        raise IndexError
                    left -= n38
                    check_count(n38, left)
                    l39: list[Any] = []
                    o35_topic_configs = l39
                    for _ in range(n38):
                        n43: i64 = buf[pos]
                        pos += 1
                        if n43 > 127:
                            n43, pos = long_string(buf, pos - 1)
                        if n43 == 0:
                            raise IndexError
                        e44: i64 = pos + n43 - 1
                        o42_key = text_at(buf, pos, e44)
                        pos = e44
                        n45: i64 = buf[pos]
                        pos += 1
                        if n45 > 127:
                            n45, pos = long_string(buf, pos - 1)
                        if n45 == 0:
                            raise IndexError
                        e46: i64 = pos + n45 - 1
                        o42_value = text_at(buf, pos, e46)
                        pos = e46
                        v41 = o42 = KeyValue(key=o42_key, value=o42_value)
                        if buf[pos]:
                            o42.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                            left -= len(o42.unknown_tagged_fields)
                            check_count(len(o42.unknown_tagged_fields), left)
                        else:
                            pos += 1
                        l39.append(v41)
                    v34 = o35 = TopicInfo(
                        name=o35_name,
                        partitions=o35_partitions,
                        replication_factor=o35_replication_factor,
                        topic_configs=o35_topic_configs,
                    )
                    if buf[pos]:
                        o35.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                        left -= len(o35.unknown_tagged_fields)
                        check_count(len(o35.unknown_tagged_fields), left)
                    else:
                        pos += 1
                    l32.append(v34)
                n47: i64 = buf[pos]
                pos += 1
                if n47 > 127:
                    n47, pos = long_length(buf, pos - 1)
                if n47 == 0:
                    raise IndexError
                n47 -= 1
                if n47 * 1 > end - pos:
                    raise IndexError
                left -= n47
                check_count(n47, left)
                l48: list[Any] = []
                o16_repartition_sink_topics = l48
                for _ in range(n47):
                    n51: i64 = buf[pos]
                    pos += 1
                    if n51 > 127:
                        n51, pos = long_string(buf, pos - 1)
                    if n51 == 0:
                        raise IndexError
                    e52: i64 = pos + n51 - 1
                    v50 = text_at(buf, pos, e52)
                    pos = e52
                    l48.append(v50)
                n53: i64 = buf[pos]
                pos += 1
                if n53 > 127:
                    n53, pos = long_length(buf, pos - 1)
                if n53 == 0:
                    raise IndexError
                n53 -= 1
                if n53 * 9 > end - pos:
                    raise IndexError
                left -= n53
                check_count(n53, left)
                l54: list[Any] = []
                o16_repartition_source_topics = l54
                for _ in range(n53):
                    n58: i64 = buf[pos]
                    pos += 1
                    if n58 > 127:
                        n58, pos = long_string(buf, pos - 1)
                    if n58 == 0:
                        raise IndexError
                    e59: i64 = pos + n58 - 1
                    o57_name = text_at(buf, pos, e59)
                    pos = e59
                    o57_partitions = int32_at(buf, pos)
                    o57_replication_factor = int16_at(buf, pos + 4)
                    n60: i64 = buf[pos + 6]
                    pos += 7
                    if n60 > 127:
                        n60, pos = long_length(buf, pos - 1)
                    if n60 == 0:
                        raise IndexError
                    n60 -= 1
                    if n60 * 3 > end - pos:
                        raise IndexError
                    left -= n60
                    check_count(n60, left)
                    l61: list[Any] = []
                    o57_topic_configs = l61
                    for _ in range(n60):
                        n65: i64 = buf[pos]
                        pos += 1
                        if n65 > 127:
                            n65, pos = long_string(buf, pos - 1)
                        if n65 == 0:
                            raise IndexError
                        e66: i64 = pos + n65 - 1
                        o64_key = text_at(buf, pos, e66)
                        pos = e66
                        n67: i64 = buf[pos]
                        pos += 1
                        if n67 > 127:
                            n67, pos = long_string(buf, pos - 1)
                        if n67 == 0:
                            raise IndexError
                        e68: i64 = pos + n67 - 1
                        o64_value = text_at(buf, pos, e68)
                        pos = e68
                        v63 = o64 = KeyValue(key=o64_key, value=o64_value)
                        if buf[pos]:
                            o64.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                            left -= len(o64.unknown_tagged_fields)
                            check_count(len(o64.unknown_tagged_fields), left)
                        else:
                            pos += 1
                        l61.append(v63)
                    v56 = o57 = TopicInfo(
                        name=o57_name,
                        partitions=o57_partitions,
                        replication_factor=o57_replication_factor,
                        topic_configs=o57_topic_configs,
                    )
                    if buf[pos]:
                        o57.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                        left -= len(o57.unknown_tagged_fields)
                        check_count(len(o57.unknown_tagged_fields), left)
                    else:
                        pos += 1
                    l54.append(v56)
                n69: i64 = buf[pos]
                pos += 1
                if n69 > 127:
                    n69, pos = long_length(buf, pos - 1)
                if n69 == 0:
                    raise IndexError
                n69 -= 1
                if n69 * 4 > end - pos:
                    raise IndexError
                left -= n69
                check_count(n69, left)
                l70: list[Any] = []
                o16_copartition_groups = l70
                for _ in range(n69):
                    n74: i64 = buf[pos]
                    pos += 1
                    if n74 > 127:
                        n74, pos = long_length(buf, pos - 1)
                    if n74 == 0:
                        raise IndexError
                    left -= n74 - 1
                    check_count(n74 - 1, left)
                    if n74 < 9:
                        o73_source_topics = list(unpack_from__h[n74 - 1](buf, pos))
                    else:
                        o73_source_topics = list(unpack_from(f">{n74 - 1}h", buf, pos))
                    pos += n74 * 2 - 2
                    n75: i64 = buf[pos]
                    pos += 1
                    if n75 > 127:
                        n75, pos = long_length(buf, pos - 1)
                    if n75 == 0:
                        raise IndexError
                    left -= n75 - 1
                    check_count(n75 - 1, left)
                    if n75 < 9:
                        o73_source_topic_regex = list(unpack_from__h[n75 - 1](buf, pos))
                    else:
                        o73_source_topic_regex = list(unpack_from(f">{n75 - 1}h", buf, pos))
                    pos += n75 * 2 - 2
                    n76: i64 = buf[pos]
                    pos += 1
                    if n76 > 127:
                        n76, pos = long_length(buf, pos - 1)
                    if n76 == 0:
                        raise IndexError
                    left -= n76 - 1
                    check_count(n76 - 1, left)
                    if n76 < 9:
                        o73_repartition_source_topics = list(unpack_from__h[n76 - 1](buf, pos))
                    else:
                        o73_repartition_source_topics = list(unpack_from(f">{n76 - 1}h", buf, pos))
                    pos += n76 * 2 - 2
                    v72 = o73 = CopartitionGroup(
                        source_topics=o73_source_topics,
                        source_topic_regex=o73_source_topic_regex,
                        repartition_source_topics=o73_repartition_source_topics,
                    )
                    if buf[pos]:
                        o73.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                        left -= len(o73.unknown_tagged_fields)
                        check_count(len(o73.unknown_tagged_fields), left)
                    else:
                        pos += 1
                    l70.append(v72)
                v15 = o16 = Subtopology(
                    subtopology_id=o16_subtopology_id,
                    source_topics=o16_source_topics,
                    source_topic_regex=o16_source_topic_regex,
                    state_changelog_topics=o16_state_changelog_topics,
                    repartition_sink_topics=o16_repartition_sink_topics,
                    repartition_source_topics=o16_repartition_source_topics,
                    copartition_groups=o16_copartition_groups,
                )
                if buf[pos]:
                    o16.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                    left -= len(o16.unknown_tagged_fields)
                    check_count(len(o16.unknown_tagged_fields), left)
                else:
                    pos += 1
                l13.append(v15)
            o1_topology = o11 = Topology(epoch=o11_epoch, subtopologies=o11_subtopologies)
            if buf[pos]:
                o11.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                left -= len(o11.unknown_tagged_fields)
                check_count(len(o11.unknown_tagged_fields), left)
            else:
                pos += 1
        n77: i64 = buf[pos]
        pos += 1
        if n77 > 127:
            n77, pos = long_length(buf, pos - 1)
        if n77 == 0:
            o1_active_tasks = None
        else:
            n77 -= 1
            if n77 * 3 > end - pos:
                raise IndexError
            left -= n77
            check_count(n77, left)
            l78: list[Any] = []
            o1_active_tasks = l78
            for _ in range(n77):
                n82: i64 = buf[pos]
                pos += 1
                if n82 > 127:
                    n82, pos = long_string(buf, pos - 1)
                if n82 == 0:
                    raise IndexError
                e83: i64 = pos + n82 - 1
                o81_subtopology_id = text_at(buf, pos, e83)
                pos = e83
                n84: i64 = buf[pos]
                pos += 1
                if n84 > 127:
                    n84, pos = long_length(buf, pos - 1)
                if n84 == 0:
                    raise IndexError
                left -= n84 - 1
                check_count(n84 - 1, left)
                if n84 < 9:
                    o81_partitions = list(unpack_from__l[n84 - 1](buf, pos))
                else:
                    o81_partitions = list(unpack_from(f">{n84 - 1}l", buf, pos))
                pos += n84 * 4 - 4
                v80 = o81 = TaskIds(subtopology_id=o81_subtopology_id, partitions=o81_partitions)
                if buf[pos]:
                    o81.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                    left -= len(o81.unknown_tagged_fields)
                    check_count(len(o81.unknown_tagged_fields), left)
                else:
                    pos += 1
                l78.append(v80)
        n85: i64 = buf[pos]
        pos += 1
        if n85 > 127:
            n85, pos = long_length(buf, pos - 1)
        if n85 == 0:
            o1_standby_tasks = None
        else:
            n85 -= 1
            if n85 * 3 > end - pos:
                raise IndexError
            left -= n85
            check_count(n85, left)
            l86: list[Any] = []
            o1_standby_tasks = l86
            for _ in range(n85):
                n90: i64 = buf[pos]
                pos += 1
                if n90 > 127:
                    n90, pos = long_string(buf, pos - 1)
                if n90 == 0:
                    raise IndexError
                e91: i64 = pos + n90 - 1
                o89_subtopology_id = text_at(buf, pos, e91)
                pos = e91
                n92: i64 = buf[pos]
                pos += 1
                if n92 > 127:
                    n92, pos = long_length(buf, pos - 1)
                if n92 == 0:
                    raise IndexError
                left -= n92 - 1
                check_count(n92 - 1, left)
                if n92 < 9:
                    o89_partitions = list(unpack_from__l[n92 - 1](buf, pos))
                else:
                    o89_partitions = list(unpack_from(f">{n92 - 1}l", buf, pos))
                pos += n92 * 4 - 4
                v88 = o89 = TaskIds(subtopology_id=o89_subtopology_id, partitions=o89_partitions)
                if buf[pos]:
                    o89.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                    left -= len(o89.unknown_tagged_fields)
                    check_count(len(o89.unknown_tagged_fields), left)
                else:
                    pos += 1
                l86.append(v88)
        n93: i64 = buf[pos]
        pos += 1
        if n93 > 127:
            n93, pos = long_length(buf, pos - 1)
        if n93 == 0:
            o1_warmup_tasks = None
        else:
            n93 -= 1
            if n93 * 3 > end - pos:
                raise IndexError
            left -= n93
            check_count(n93, left)
            l94: list[Any] = []
            o1_warmup_tasks = l94
            for _ in range(n93):
                n98: i64 = buf[pos]
                pos += 1
                if n98 > 127:
                    n98, pos = long_string(buf, pos - 1)
                if n98 == 0:
                    raise IndexError
                e99: i64 = pos + n98 - 1
                o97_subtopology_id = text_at(buf, pos, e99)
                pos = e99
                n100: i64 = buf[pos]
                pos += 1
                if n100 > 127:
                    n100, pos = long_length(buf, pos - 1)
                if n100 == 0:
                    raise IndexError
                left -= n100 - 1
                check_count(n100 - 1, left)
                if n100 < 9:
                    o97_partitions = list(unpack_from__l[n100 - 1](buf, pos))
                else:
                    o97_partitions = list(unpack_from(f">{n100 - 1}l", buf, pos))
                pos += n100 * 4 - 4
                v96 = o97 = TaskIds(subtopology_id=o97_subtopology_id, partitions=o97_partitions)
                if buf[pos]:
                    o97.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                    left -= len(o97.unknown_tagged_fields)
                    check_count(len(o97.unknown_tagged_fields), left)
                else:
                    pos += 1
                l94.append(v96)
        n101: i64 = buf[pos]
        pos += 1
        if n101 > 127:
            n101, pos = long_string(buf, pos - 1)
        if n101 == 0:
            o1_process_id = None
        else:
            e102: i64 = pos + n101 - 1
            o1_process_id = text_at(buf, pos, e102)
            pos = e102
        n103 = int8_at(buf, pos)
        pos += 1
        if n103 < 0:
            o1_user_endpoint = None
        else:
            n105: i64 = buf[pos]
            pos += 1
            if n105 > 127:
                n105, pos = long_string(buf, pos - 1)
            if n105 == 0:
                raise IndexError
            e106: i64 = pos + n105 - 1
            o104_host = text_at(buf, pos, e106)
            pos = e106
            o104_port = uint16_at(buf, pos)
            n107: i64 = buf[pos + 2]
            pos += 3
            o1_user_endpoint = o104 = Endpoint(host=o104_host, port=o104_port)
            if n107:
                o104.unknown_tagged_fields, pos = read_unknown_fields(buf, pos - 1)
                left -= len(o104.unknown_tagged_fields)
                check_count(len(o104.unknown_tagged_fields), left)
        n108: i64 = buf[pos]
        pos += 1
        if n108 > 127:
            n108, pos = long_length(buf, pos - 1)
        if n108 == 0:
            o1_client_tags = None
        else:
            n108 -= 1
            if n108 * 3 > end - pos:
                raise IndexError
            left -= n108
            check_count(n108, left)
            l109: list[Any] = []
            o1_client_tags = l109
            for _ in range(n108):
                n113: i64 = buf[pos]
                pos += 1
                if n113 > 127:
                    n113, pos = long_string(buf, pos - 1)
                if n113 == 0:
                    raise IndexError
                e114: i64 = pos + n113 - 1
                o112_key = text_at(buf, pos, e114)
                pos = e114
                n115: i64 = buf[pos]
                pos += 1
                if n115 > 127:
                    n115, pos = long_string(buf, pos - 1)
                if n115 == 0:
                    raise IndexError
                e116: i64 = pos + n115 - 1
                o112_value = text_at(buf, pos, e116)
                pos = e116
                v111 = o112 = KeyValue(key=o112_key, value=o112_value)
                if buf[pos]:
                    o112.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                    left -= len(o112.unknown_tagged_fields)
                    check_count(len(o112.unknown_tagged_fields), left)
                else:
                    pos += 1
                l109.append(v111)
        n117: i64 = buf[pos]
        pos += 1
        if n117 > 127:
            n117, pos = long_length(buf, pos - 1)
        if n117 == 0:
            o1_task_offsets = None
        else:
            n117 -= 1
            if n117 * 14 > end - pos:
                raise IndexError
            left -= n117
            check_count(n117, left)
            l118: list[Any] = []
            o1_task_offsets = l118
            for _ in range(n117):
                n122: i64 = buf[pos]
                pos += 1
                if n122 > 127:
                    n122, pos = long_string(buf, pos - 1)
                if n122 == 0:
                    raise IndexError
                e123: i64 = pos + n122 - 1
                o121_subtopology_id = text_at(buf, pos, e123)
                pos = e123
                o121_partition = int32_at(buf, pos)
                o121_offset = int64_at(buf, pos + 4)
                n124: i64 = buf[pos + 12]
                pos += 13
                v120 = o121 = TaskOffset(
                    subtopology_id=o121_subtopology_id, partition=o121_partition, offset=o121_offset
                )
                if n124:
                    o121.unknown_tagged_fields, pos = read_unknown_fields(buf, pos - 1)
                    left -= len(o121.unknown_tagged_fields)
                    check_count(len(o121.unknown_tagged_fields), left)
                l118.append(v120)
        n125: i64 = buf[pos]
        pos += 1
        if n125 > 127:
            n125, pos = long_length(buf, pos - 1)
        if n125 == 0:
            o1_task_end_offsets = None
        else:
            n125 -= 1
            if n125 * 14 > end - pos:
                raise IndexError
            left -= n125
            check_count(n125, left)
            l126: list[Any] = []
            o1_task_end_offsets = l126
            for _ in range(n125):
                n130: i64 = buf[pos]
                pos += 1
                if n130 > 127:
                    n130, pos = long_string(buf, pos - 1)
                if n130 == 0:
                    raise IndexError
                e131: i64 = pos + n130 - 1
                o129_subtopology_id = text_at(buf, pos, e131)
                pos = e131
                o129_partition = int32_at(buf, pos)
                o129_offset = int64_at(buf, pos + 4)
                n132: i64 = buf[pos + 12]
                pos += 13
                v128 = o129 = TaskOffset(
                    subtopology_id=o129_subtopology_id, partition=o129_partition, offset=o129_offset
                )
                if n132:
                    o129.unknown_tagged_fields, pos = read_unknown_fields(buf, pos - 1)
                    left -= len(o129.unknown_tagged_fields)
                    check_count(len(o129.unknown_tagged_fields), left)
                l126.append(v128)
        o1_shutdown_application = buf[pos] != 0
        n133: i64 = buf[pos + 1]
        pos += 2
        message = o1 = StreamsGroupHeartbeatRequest(
            group_id=o1_group_id,
            member_id=o1_member_id,
            member_epoch=o1_member_epoch,
            endpoint_information_epoch=o1_endpoint_information_epoch,
            instance_id=o1_instance_id,
            rack_id=o1_rack_id,
            rebalance_timeout_ms=o1_rebalance_timeout_ms,
            topology=o1_topology,
            active_tasks=o1_active_tasks,
            standby_tasks=o1_standby_tasks,
            warmup_tasks=o1_warmup_tasks,
            process_id=o1_process_id,
            user_endpoint=o1_user_endpoint,
            client_tags=o1_client_tags,
            task_offsets=o1_task_offsets,
            task_end_offsets=o1_task_end_offsets,
            shutdown_application=o1_shutdown_application,
        )
        if n133:
            o1.unknown_tagged_fields, pos = read_unknown_fields(buf, pos - 1)
            left -= len(o1.unknown_tagged_fields)
            check_count(len(o1.unknown_tagged_fields), left)
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(StreamsGroupHeartbeatRequest, version, data, offset, most)


def encode_streams_group_heartbeat_response_0(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: StreamsGroupHeartbeatResponse = message
        if m.topology_description_required != False:
            refuse()
        s3 = m.error_message
        if s3 is None:
            n2: i64 = 0
            b1 = b""
        else:
            b1 = s3.encode()
            n2 = len(b1) + 1
            if n2 > 32768:
                refuse()
        b4 = m.member_id.encode()
        n5: i64 = len(b4) + 1
        if n5 > 32768:
            refuse()
        l6 = m.status
        if l6 is None:
            n7: i64 = 0
            l6 = []
        else:
            n7 = len(l6) + 1
        out += (
            pack_lhB(m.throttle_time_ms, m.error_code, n2)
            if n2 < 128
            else pack_lh(m.throttle_time_ms, m.error_code) + encode_uvarint(n2),
            b1,
            BYTE[n5] if n5 < 128 else encode_uvarint(n5),
            b4,
            pack_llllB(
                m.member_epoch, m.heartbeat_interval_ms, m.acceptable_recovery_lag_legacy, m.task_offset_interval_ms, n7
            )
            if n7 < 128
            else pack_llll(
                m.member_epoch, m.heartbeat_interval_ms, m.acceptable_recovery_lag_legacy, m.task_offset_interval_ms
            )
            + encode_uvarint(n7),
        )
        for v8 in l6:
            b9 = v8.status_detail.encode()
            n10: i64 = len(b9) + 1
            if n10 > 32768:
                refuse()
            out += (
                pack_bB(v8.status_code, n10) if n10 < 128 else pack_b(v8.status_code) + encode_uvarint(n10),
                b9,
                BYTE[0] if not v8.unknown_tagged_fields else encode_tagged_section((), v8.unknown_tagged_fields),
            )
        l11 = m.active_tasks
        if l11 is None:
            n12: i64 = 0
            l11 = []
        else:
            n12 = len(l11) + 1
        out.append(BYTE[n12] if n12 < 128 else encode_uvarint(n12))
        for v13 in l11:
            b14 = v13.subtopology_id.encode()
            n15: i64 = len(b14) + 1
            if n15 > 32768:
                refuse()
            l16 = v13.partitions
            n17: i64 = len(l16) + 1
            out += (
                BYTE[n15] if n15 < 128 else encode_uvarint(n15),
                b14,
                pack_B_l[len(l16)](n17, *l16) if len(l16) < 9 else encode_uvarint(n17) + pack(f">{len(l16)}l", *l16),
                BYTE[0] if not v13.unknown_tagged_fields else encode_tagged_section((), v13.unknown_tagged_fields),
            )
        l18 = m.standby_tasks
        if l18 is None:
            n19: i64 = 0
            l18 = []
        else:
            n19 = len(l18) + 1
        out.append(BYTE[n19] if n19 < 128 else encode_uvarint(n19))
        for v20 in l18:
            b21 = v20.subtopology_id.encode()
            n22: i64 = len(b21) + 1
            if n22 > 32768:
                refuse()
            l23 = v20.partitions
            n24: i64 = len(l23) + 1
            out += (
                BYTE[n22] if n22 < 128 else encode_uvarint(n22),
                b21,
                pack_B_l[len(l23)](n24, *l23) if len(l23) < 9 else encode_uvarint(n24) + pack(f">{len(l23)}l", *l23),
                BYTE[0] if not v20.unknown_tagged_fields else encode_tagged_section((), v20.unknown_tagged_fields),
            )
        l25 = m.warmup_tasks
        if l25 is None:
            n26: i64 = 0
            l25 = []
        else:
            n26 = len(l25) + 1
        out.append(BYTE[n26] if n26 < 128 else encode_uvarint(n26))
        for v27 in l25:
            b28 = v27.subtopology_id.encode()
            n29: i64 = len(b28) + 1
            if n29 > 32768:
                refuse()
            l30 = v27.partitions
            n31: i64 = len(l30) + 1
            out += (
                BYTE[n29] if n29 < 128 else encode_uvarint(n29),
                b28,
                pack_B_l[len(l30)](n31, *l30) if len(l30) < 9 else encode_uvarint(n31) + pack(f">{len(l30)}l", *l30),
                BYTE[0] if not v27.unknown_tagged_fields else encode_tagged_section((), v27.unknown_tagged_fields),
            )
        l32 = m.partitions_by_user_endpoint
        if l32 is None:
            n33: i64 = 0
            l32 = []
        else:
            n33 = len(l32) + 1
        out.append(
            pack_lB(m.endpoint_information_epoch, n33)
            if n33 < 128
            else pack_l(m.endpoint_information_epoch) + encode_uvarint(n33)
        )
        for v34 in l32:
            o35 = v34.user_endpoint
            b36 = o35.host.encode()
            n37: i64 = len(b36) + 1
            if n37 > 32768:
                refuse()
            l38 = v34.active_partitions
            n39: i64 = len(l38) + 1
            out += (
                BYTE[n37] if n37 < 128 else encode_uvarint(n37),
                b36,
                pack_uB(o35.port, 0)
                if not o35.unknown_tagged_fields
                else pack_u(o35.port) + encode_tagged_section((), o35.unknown_tagged_fields),
                BYTE[n39] if n39 < 128 else encode_uvarint(n39),
            )
            for v40 in l38:
                b41 = v40.topic.encode()
                n42: i64 = len(b41) + 1
                if n42 > 32768:
                    refuse()
                l43 = v40.partitions
                n44: i64 = len(l43) + 1
                out += (
                    BYTE[n42] if n42 < 128 else encode_uvarint(n42),
                    b41,
                    pack_B_l[len(l43)](n44, *l43)
                    if len(l43) < 9
                    else encode_uvarint(n44) + pack(f">{len(l43)}l", *l43),
                    BYTE[0] if not v40.unknown_tagged_fields else encode_tagged_section((), v40.unknown_tagged_fields),
                )
            l45 = v34.standby_partitions
            n46: i64 = len(l45) + 1
            out.append(BYTE[n46] if n46 < 128 else encode_uvarint(n46))
            for v47 in l45:
                b48 = v47.topic.encode()
                n49: i64 = len(b48) + 1
                if n49 > 32768:
                    refuse()
                l50 = v47.partitions
                n51: i64 = len(l50) + 1
                out += (
                    BYTE[n49] if n49 < 128 else encode_uvarint(n49),
                    b48,
                    pack_B_l[len(l50)](n51, *l50)
                    if len(l50) < 9
                    else encode_uvarint(n51) + pack(f">{len(l50)}l", *l50),
                    BYTE[0] if not v47.unknown_tagged_fields else encode_tagged_section((), v47.unknown_tagged_fields),
                )
            out.append(
                BYTE[0] if not v34.unknown_tagged_fields else encode_tagged_section((), v34.unknown_tagged_fields)
            )
        out.append(BYTE[0] if not m.unknown_tagged_fields else encode_tagged_section((), m.unknown_tagged_fields))
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(StreamsGroupHeartbeatResponse, version, message, error) from None


def encode_streams_group_heartbeat_response_1(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: StreamsGroupHeartbeatResponse = message
        if m.acceptable_recovery_lag_legacy != 0:
            refuse()
        s3 = m.error_message
        if s3 is None:
            n2: i64 = 0
            b1 = b""
        else:
            b1 = s3.encode()
            n2 = len(b1) + 1
            if n2 > 32768:
                refuse()
        b4 = m.member_id.encode()
        n5: i64 = len(b4) + 1
        if n5 > 32768:
            refuse()
        l6 = m.status
        if l6 is None:
            n7: i64 = 0
            l6 = []
        else:
            n7 = len(l6) + 1
        out += (
            pack_lhB(m.throttle_time_ms, m.error_code, n2)
            if n2 < 128
            else pack_lh(m.throttle_time_ms, m.error_code) + encode_uvarint(n2),
            b1,
            BYTE[n5] if n5 < 128 else encode_uvarint(n5),
            b4,
            pack_lllqB(
                m.member_epoch, m.heartbeat_interval_ms, m.task_offset_interval_ms, m.acceptable_recovery_lag, n7
            )
            if n7 < 128
            else pack_lllq(
                m.member_epoch, m.heartbeat_interval_ms, m.task_offset_interval_ms, m.acceptable_recovery_lag
            )
            + encode_uvarint(n7),
        )
        for v8 in l6:
            b9 = v8.status_detail.encode()
            n10: i64 = len(b9) + 1
            if n10 > 32768:
                refuse()
            out += (
                pack_bB(v8.status_code, n10) if n10 < 128 else pack_b(v8.status_code) + encode_uvarint(n10),
                b9,
                BYTE[0] if not v8.unknown_tagged_fields else encode_tagged_section((), v8.unknown_tagged_fields),
            )
        l11 = m.active_tasks
        if l11 is None:
            n12: i64 = 0
            l11 = []
        else:
            n12 = len(l11) + 1
        out.append(BYTE[n12] if n12 < 128 else encode_uvarint(n12))
        for v13 in l11:
            b14 = v13.subtopology_id.encode()
            n15: i64 = len(b14) + 1
            if n15 > 32768:
                refuse()
            l16 = v13.partitions
            n17: i64 = len(l16) + 1
            out += (
                BYTE[n15] if n15 < 128 else encode_uvarint(n15),
                b14,
                pack_B_l[len(l16)](n17, *l16) if len(l16) < 9 else encode_uvarint(n17) + pack(f">{len(l16)}l", *l16),
                BYTE[0] if not v13.unknown_tagged_fields else encode_tagged_section((), v13.unknown_tagged_fields),
            )
        l18 = m.standby_tasks
        if l18 is None:
            n19: i64 = 0
            l18 = []
        else:
            n19 = len(l18) + 1
        out.append(BYTE[n19] if n19 < 128 else encode_uvarint(n19))
        for v20 in l18:
            b21 = v20.subtopology_id.encode()
            n22: i64 = len(b21) + 1
            if n22 > 32768:
                refuse()
            l23 = v20.partitions
            n24: i64 = len(l23) + 1
            out += (
                BYTE[n22] if n22 < 128 else encode_uvarint(n22),
                b21,
                pack_B_l[len(l23)](n24, *l23) if len(l23) < 9 else encode_uvarint(n24) + pack(f">{len(l23)}l", *l23),
                BYTE[0] if not v20.unknown_tagged_fields else encode_tagged_section((), v20.unknown_tagged_fields),
            )
        l25 = m.warmup_tasks
        if l25 is None:
            n26: i64 = 0
            l25 = []
        else:
            n26 = len(l25) + 1
        out.append(BYTE[n26] if n26 < 128 else encode_uvarint(n26))
        for v27 in l25:
            b28 = v27.subtopology_id.encode()
            n29: i64 = len(b28) + 1
            if n29 > 32768:
                refuse()
            l30 = v27.partitions
            n31: i64 = len(l30) + 1
            out += (
                BYTE[n29] if n29 < 128 else encode_uvarint(n29),
                b28,
                pack_B_l[len(l30)](n31, *l30) if len(l30) < 9 else encode_uvarint(n31) + pack(f">{len(l30)}l", *l30),
                BYTE[0] if not v27.unknown_tagged_fields else encode_tagged_section((), v27.unknown_tagged_fields),
            )
        l32 = m.partitions_by_user_endpoint
        if l32 is None:
            n33: i64 = 0
            l32 = []
        else:
            n33 = len(l32) + 1
        out.append(
            pack_olB(m.topology_description_required, m.endpoint_information_epoch, n33)
            if n33 < 128
            else pack_ol(m.topology_description_required, m.endpoint_information_epoch) + encode_uvarint(n33)
        )
        for v34 in l32:
            o35 = v34.user_endpoint
            b36 = o35.host.encode()
            n37: i64 = len(b36) + 1
            if n37 > 32768:
                refuse()
            l38 = v34.active_partitions
            n39: i64 = len(l38) + 1
            out += (
                BYTE[n37] if n37 < 128 else encode_uvarint(n37),
                b36,
                pack_uB(o35.port, 0)
                if not o35.unknown_tagged_fields
                else pack_u(o35.port) + encode_tagged_section((), o35.unknown_tagged_fields),
                BYTE[n39] if n39 < 128 else encode_uvarint(n39),
            )
            for v40 in l38:
                b41 = v40.topic.encode()
                n42: i64 = len(b41) + 1
                if n42 > 32768:
                    refuse()
                l43 = v40.partitions
                n44: i64 = len(l43) + 1
                out += (
                    BYTE[n42] if n42 < 128 else encode_uvarint(n42),
                    b41,
                    pack_B_l[len(l43)](n44, *l43)
                    if len(l43) < 9
                    else encode_uvarint(n44) + pack(f">{len(l43)}l", *l43),
                    BYTE[0] if not v40.unknown_tagged_fields else encode_tagged_section((), v40.unknown_tagged_fields),
                )
            l45 = v34.standby_partitions
            n46: i64 = len(l45) + 1
            out.append(BYTE[n46] if n46 < 128 else encode_uvarint(n46))
            for v47 in l45:
                b48 = v47.topic.encode()
                n49: i64 = len(b48) + 1
                if n49 > 32768:
                    refuse()
                l50 = v47.partitions
                n51: i64 = len(l50) + 1
                out += (
                    BYTE[n49] if n49 < 128 else encode_uvarint(n49),
                    b48,
                    pack_B_l[len(l50)](n51, *l50)
                    if len(l50) < 9
                    else encode_uvarint(n51) + pack(f">{len(l50)}l", *l50),
                    BYTE[0] if not v47.unknown_tagged_fields else encode_tagged_section((), v47.unknown_tagged_fields),
                )
            out.append(
                BYTE[0] if not v34.unknown_tagged_fields else encode_tagged_section((), v34.unknown_tagged_fields)
            )
        out.append(BYTE[0] if not m.unknown_tagged_fields else encode_tagged_section((), m.unknown_tagged_fields))
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(StreamsGroupHeartbeatResponse, version, message, error) from None


DECODERS: dict[str, dict[int, Callable[..., tuple[Any, int]]]] = {
    "StreamsGroupHeartbeatRequest": {0: decode_streams_group_heartbeat_request_0},
}

ENCODERS: dict[str, dict[int, Callable[..., list[Part]]]] = {
    "StreamsGroupHeartbeatResponse": {
        0: encode_streams_group_heartbeat_response_0,
        1: encode_streams_group_heartbeat_response_1,
    },
}
