"""The transaction coordinator: transactional ids, their producers, and the two-phase end of their transactions."""
