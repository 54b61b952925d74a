"""TLS: keys, certificates and the handshake in front of a connection's requests."""
