"""Client quotas: rates, and how long a connection is kept waiting for exceeding them."""
