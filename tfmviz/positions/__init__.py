"""Position encodings: `schemes.py` lists them, `base.py` is their interface."""
