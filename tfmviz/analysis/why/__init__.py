"""Attributions of attention scores: a score as a sum over the writers of what a head reads."""
