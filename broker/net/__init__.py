"""Sockets: listeners, connections, and the poller that waits for all of them."""
