"""Models of documents, from settings."""
