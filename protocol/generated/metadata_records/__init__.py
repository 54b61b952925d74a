"""Generated: do not edit, run `make generate`."""
