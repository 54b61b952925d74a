"""Groups of the consumer protocol (KIP-848): the coordinator assigns, members reconcile step by step."""
