"""What stands where in a broker, and why a test may have failed."""
