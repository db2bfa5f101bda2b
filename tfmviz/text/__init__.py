"""Tokenizers, readers of training text, synthetic sequences. Nothing here needs torch."""
