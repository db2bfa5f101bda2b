"""Complexity: layers on paper and as measured, and where a model's multiplications go."""
