"""What `regard init` proposes, by looking at the data."""
