"""The share coordinator (KIP-932): it stores what share groups have done, in `__share_group_state`."""
