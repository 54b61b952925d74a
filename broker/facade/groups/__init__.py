"""Consumer, share and streams groups, as Python sees them.

`view` is the handle that ``broker.group(...)`` returns: it looks at a group and waits for it. `description` reads the
coordinator's state in the broker's thread and returns the immutable snapshots of `info`; it also commits offsets for
a group without members. Nothing here owns state: groups belong to their coordinators.
"""
