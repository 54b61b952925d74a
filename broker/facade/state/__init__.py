"""A broker's state as a value: taken, gone back to, forked."""
