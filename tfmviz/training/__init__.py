"""Training: `python -m tfmviz.training --help`."""
