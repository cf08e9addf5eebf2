"""Folders that Hugging Face transformers loads, without code of our own in them."""
