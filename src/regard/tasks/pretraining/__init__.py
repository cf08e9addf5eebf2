"""Pretraining on plain text: hidden, replaced and dropped words, next sentences."""
