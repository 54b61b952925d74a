"""The transaction coordinator: transactional ids, their states, and the markers that end transactions. README.md has
the states and the way of EndTxn.

Commands enter `TransactionMachine`, which owns the ids of one partition of `__transaction_state`. Its records and
replies leave. `service` writes the markers into the partitions.
"""
