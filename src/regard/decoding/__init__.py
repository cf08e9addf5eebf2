"""Probabilities become a sequence. This room knows ids, never text, and imports no other room."""
