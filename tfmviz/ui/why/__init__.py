"""Why there: a score taken apart, its paths removed, and what the look then writes."""
