"""Groups of the streams protocol (KIP-1071): a topology, its tasks, and the sticky assignor.

Requests enter `kind`. `progress` compares the topology with the topics, assigns tasks and reconciles members.
`StreamsGroup` is what the log says, and only `replay` changes it.
"""
