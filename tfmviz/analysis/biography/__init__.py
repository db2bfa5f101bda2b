"""Profiles of heads: measurements on many texts, and claims tested on others."""
