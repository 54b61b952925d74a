"""Client metrics (KIP-714): GetTelemetrySubscriptions and PushTelemetry.

Requests enter `TelemetryService`. The first subscription or request makes it. `subscriptions` combines the
CLIENT_METRICS resources of the image that match a client. `instances` owns, for each broker, which client asked or
pushed when. Nothing runs for an idle client: an expired instance is dropped when somebody looks at it, and 16,384 are
kept. `pushes` owns the newest payloads, up to 16 MiB, and decodes them when a test looks.
"""
