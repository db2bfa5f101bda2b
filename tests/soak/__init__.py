"""Long checks, which `make soak` runs: what every answer costs, random readers, servers that are killed."""
