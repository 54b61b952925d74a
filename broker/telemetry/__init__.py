"""Client metrics (KIP-714): which client pushes what, and the newest payloads.

Requests enter `TelemetryService`, which owns the client instances and payloads. `otlp` decodes a payload when somebody
reads it.
"""
