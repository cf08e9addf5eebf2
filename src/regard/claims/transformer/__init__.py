"""Claims about the Transformer: architecture, size, training and decoding."""
