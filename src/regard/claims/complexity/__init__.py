"""Claims about cost, paths and what must wait for what."""
