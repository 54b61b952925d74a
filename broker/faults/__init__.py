"""Faults: what a test asks for, and what it does to an answer, to a connection and to a link."""
