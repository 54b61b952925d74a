"""Groups of the streams protocol (KIP-1071): a topology, its tasks, and the sticky assignor.

Heartbeats enter `heartbeats`. `readiness` compares the topology with the topics, `progress` assigns tasks and
reconciles members. `StreamsGroup` is what the log says, and only `replay` changes it.
"""
