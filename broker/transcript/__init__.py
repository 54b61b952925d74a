"""The transcript: requests and answers that the broker has kept, for tests and people to look at.

Exchanges come from `broker/requests`, which keeps the bytes and decodes nothing. `recorded_request` decodes a message
when somebody looks at it, and shows it as a line of text. `request_list` filters, counts, saves and loads; `json_lines`
and `capture` are the other forms of output. Nothing here changes the broker.
"""
