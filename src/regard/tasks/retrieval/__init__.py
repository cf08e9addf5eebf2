"""Retrieval: texts become vectors, close if they mean the same; the baseline is BM25."""
