"""Client metrics (KIP-714): subscriptions, client instances, and what clients pushed."""
