"""The transformer and earlier models. Only `config.py` and `earlier.py` need no torch."""
