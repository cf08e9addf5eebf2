"""Heads: what each one does over many texts, how much it matters, and what is left without it."""
