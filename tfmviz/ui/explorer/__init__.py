"""The explorer: all heads of all layers."""
