"""Models that turn texts into vectors."""
