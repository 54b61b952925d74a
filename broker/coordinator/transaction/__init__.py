"""The transaction coordinator: transactional ids, their states, and the markers that end transactions.

Commands enter `TransactionMachine`. `decisions` are pure functions with the table `states`; `markers` writes the
markers into the partitions. Records of `__transaction_state` and replies leave.
"""
