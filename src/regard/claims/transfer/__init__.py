"""Claims about carrying a body into another task."""
