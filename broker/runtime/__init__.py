"""The generic actor behind every durable thing: decide, append, replay, answer; timers and loading."""
