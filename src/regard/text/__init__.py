"""Strings to ids and back: tokenizers, their training, BPE-dropout, sentences."""
