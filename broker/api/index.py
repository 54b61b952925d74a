"""What is served, and by which module here: key -> (module, lowest, highest version, advertised).

Generated from the handlers: do not edit, run `python -m odradek.broker.api.generate_index`.
"""

INDEX: dict[int, tuple[str, int, int, bool]] = {
    0: ("produce", 3, 13, True),  # Produce
    1: ("fetch", 4, 18, True),  # Fetch
    2: ("list_offsets", 1, 11, True),  # ListOffsets
    3: ("metadata", 0, 13, True),  # Metadata
    8: ("group_offsets", 2, 10, True),  # OffsetCommit
    9: ("group_offsets", 1, 10, True),  # OffsetFetch
    10: ("find_coordinator", 0, 6, True),  # FindCoordinator
    11: ("groups", 0, 9, True),  # JoinGroup
    12: ("groups", 0, 4, True),  # Heartbeat
    13: ("groups", 0, 5, True),  # LeaveGroup
    14: ("groups", 0, 5, True),  # SyncGroup
    15: ("group_admin", 0, 6, True),  # DescribeGroups
    16: ("group_admin", 0, 5, True),  # ListGroups
    18: ("api_versions", 0, 4, True),  # ApiVersions
    19: ("topics", 2, 7, True),  # CreateTopics
    20: ("topics", 1, 6, True),  # DeleteTopics
    21: ("delete_records", 0, 2, True),  # DeleteRecords
    22: ("producers", 0, 5, True),  # InitProducerId
    23: ("list_offsets", 2, 4, True),  # OffsetForLeaderEpoch
    24: ("transactions", 0, 5, True),  # AddPartitionsToTxn
    25: ("transactions", 0, 4, True),  # AddOffsetsToTxn
    26: ("transactions", 0, 5, True),  # EndTxn
    27: ("transactions", 1, 2, True),  # WriteTxnMarkers
    28: ("transactions", 0, 5, True),  # TxnOffsetCommit
    32: ("configs", 1, 4, True),  # DescribeConfigs
    33: ("configs", 0, 2, True),  # AlterConfigs
    35: ("cluster", 1, 5, True),  # DescribeLogDirs
    37: ("topics", 0, 3, True),  # CreatePartitions
    42: ("group_admin", 0, 2, True),  # DeleteGroups
    43: ("cluster", 0, 2, True),  # ElectLeaders
    44: ("configs", 0, 1, True),  # IncrementalAlterConfigs
    45: ("cluster", 0, 1, True),  # AlterPartitionReassignments
    46: ("cluster", 0, 0, True),  # ListPartitionReassignments
    47: ("group_offsets", 0, 0, True),  # OffsetDelete
    55: ("cluster", 0, 2, True),  # DescribeQuorum
    57: ("cluster", 0, 2, True),  # UpdateFeatures
    60: ("cluster", 0, 2, True),  # DescribeCluster
    61: ("producers", 0, 0, True),  # DescribeProducers
    65: ("transactions", 0, 0, True),  # DescribeTransactions
    66: ("transactions", 0, 2, True),  # ListTransactions
    68: ("consumer_groups", 0, 1, True),  # ConsumerGroupHeartbeat
    69: ("consumer_groups", 0, 1, True),  # ConsumerGroupDescribe
    71: ("telemetry", 0, 0, True),  # GetTelemetrySubscriptions
    72: ("telemetry", 0, 0, True),  # PushTelemetry
    74: ("configs", 0, 1, True),  # ListConfigResources
    75: ("metadata", 0, 0, True),  # DescribeTopicPartitions
    76: ("share_groups", 1, 1, True),  # ShareGroupHeartbeat
    77: ("share_groups", 1, 1, True),  # ShareGroupDescribe
    78: ("share_fetch", 1, 2, True),  # ShareFetch
    79: ("share_acknowledge", 1, 2, True),  # ShareAcknowledge
    83: ("share_state", 0, 0, True),  # InitializeShareGroupState
    84: ("share_state", 0, 0, True),  # ReadShareGroupState
    85: ("share_state", 0, 1, True),  # WriteShareGroupState
    86: ("share_state", 0, 0, True),  # DeleteShareGroupState
    87: ("share_state", 0, 1, True),  # ReadShareGroupStateSummary
    88: ("streams_groups", 0, 0, True),  # StreamsGroupHeartbeat
    89: ("streams_groups", 0, 0, True),  # StreamsGroupDescribe
    90: ("share_group_offsets", 0, 1, True),  # DescribeShareGroupOffsets
    91: ("share_group_offsets", 0, 0, True),  # AlterShareGroupOffsets
    92: ("share_group_offsets", 0, 0, True),  # DeleteShareGroupOffsets
}
