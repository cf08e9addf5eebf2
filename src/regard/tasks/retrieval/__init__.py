"""Retrieval: texts become vectors, near where they mean the same; beside BM25."""
