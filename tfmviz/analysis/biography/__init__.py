"""Biographies of heads: measurements on many texts, claims, and whether they hold on other texts."""
