"""The leader's side of share groups: which records are acquired by whom, until they are acknowledged.

Fetches and acknowledgements enter; acquired records leave, and changes go to the share coordinator. A change is stored
before its member is answered, and taken back if it cannot be stored. Only what members have decided is stored: records
that were acquired when the leader changes are available to its successor.

`SharePartition` is the machine of one share partition. It is pure: it gets the time as an argument, and a callback
that stores changes. Its `in_flight` records are runs of offsets, split into pieces of one state, delivery count and
lock, and joined again. `manager` owns all machines, the sessions, and the one task that waits for locks. `reading`
serves a fetch, `acquisition` hands records out and `acknowledgement` takes back what members say of them.
"""
