"""Searching a corpus: by vectors, by words (BM25), or by both."""
