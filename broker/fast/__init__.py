"""Faster ways for what the plain path of a request does."""
