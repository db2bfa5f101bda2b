"""Attention scores as sums over the writers of what a head reads."""
