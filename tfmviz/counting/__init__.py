"""n-gram models: counts of a text, what they predict, and smoothing for what never occurred."""
