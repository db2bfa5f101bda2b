"""Tokens, numbers and readers' texts in words, all safe in Markdown."""
