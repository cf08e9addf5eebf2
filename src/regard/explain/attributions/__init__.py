"""Readings: which words an answer came from, by attention, by gradients and by leaving out."""
