"""What happened in a pass, and how it is changed. Only `tap` knows torch."""
