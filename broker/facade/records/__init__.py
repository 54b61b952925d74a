"""Records: written and read without a client.

`record` has the values that go in and come out. `writing` appends records through the same checks as a client's
records, `reading` decodes a log in the caller's thread, and shows records by the schemas set for their topic.
`watching` waits for records and follows a topic. `state_log` keeps state in a compacted topic. Nothing here owns
records: they belong to the logs of their partitions.
"""
