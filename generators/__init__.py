"""The generators of the code in the folders `generated`: `make generate`. They are not installed."""
