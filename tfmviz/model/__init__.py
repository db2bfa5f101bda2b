"""The in-house transformer: one block, three architectures. `config.py` alone does not need torch."""
