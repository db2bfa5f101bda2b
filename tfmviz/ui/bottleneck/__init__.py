"""Recurrent translators: one vector for the whole source, or a separate context for every word."""
