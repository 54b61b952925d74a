"""The leader's side of share groups: which records are acquired by whom, until they are acknowledged.

`SharePartition` is the machine of one share partition. `manager` owns all of them, with sessions and lock timers;
`reading` serves a fetch, `acquisition` hands records out and `acknowledgement` takes them back.
"""
