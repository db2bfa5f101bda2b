"""Training runs: the logs of the shipped models, and runs that readers start."""
