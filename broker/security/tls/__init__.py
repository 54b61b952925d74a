"""TLS: key stores, trust stores and certificates become the contexts of a listener's handshakes.

Configs and store files enter, SSL contexts leave. `TlsListeners` owns the contexts and reads the stores again when the
configs of a listener change.
"""
