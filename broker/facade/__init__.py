"""What a user of Python sees."""
