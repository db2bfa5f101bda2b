"""Text in: the tokenizer, readers of training text, synthetic sequences. Nothing here needs torch."""
