"""What writes the code in the folders `generated`: `make generate`. Nothing of it is installed."""
