"""Claims about documents: hierarchical attention, and where it cannot look."""
