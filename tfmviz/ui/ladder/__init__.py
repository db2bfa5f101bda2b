"""From windows to attention."""
