"""Claims about the Transformer: its block, its size, how it learns and how it writes."""
