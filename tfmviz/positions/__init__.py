"""How a model knows the order of its tokens: one scheme per file behind the interface in `base.py`."""
