"""Groups of the consumer protocol (KIP-848), their members of the classic protocol, and the migration of groups.

Requests enter `kind`; `progress` makes target assignments with an assignor and reconciles members with them.
`ConsumerGroup` is what the log says, and only `replay` changes it.
"""
