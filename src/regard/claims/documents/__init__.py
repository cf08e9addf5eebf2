"""Claims about documents: hierarchical attention and context."""
