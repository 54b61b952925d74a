"""The coordinators of groups, transactions and share state.

Handlers give commands to a service (`CoordinatorService` and its subclasses), which finds the shard of the key and
returns the reply. Each kind has a machine that decides and replays on `broker/runtime`, and an internal topic with its
log. Everything durable is a record of that log; the machines own all state.
"""
