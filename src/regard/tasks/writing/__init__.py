"""Tasks whose model reads one text and writes another."""
