"""What takes long: `make soak`."""
