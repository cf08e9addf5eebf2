"""What `regard init` proposes for the data."""
