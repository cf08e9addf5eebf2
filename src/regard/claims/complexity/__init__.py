"""Claims about cost, path lengths and sequential operations."""
